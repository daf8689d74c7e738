"""Average pooling by tables: window i reaches from row low[i] to row high[i], whatever kind of pooling made the table.

Any float type; the innermost loop runs over the images.
"""

from .cache import kernel


@kernel
def average(x, rows, columns, scale, y, zero):
    """y[c, i, j] = scale[i, j] times the sum of x[c, rows[0, i] : rows[1, i], columns[0, j] : columns[1, j]]; batch last."""
    C, HO, WO, N = y.shape
    for c in range(C):
        for i in range(HO):
            for j in range(WO):
                o = y[c, i, j]
                o[:] = zero
                for h in range(rows[0, i], rows[1, i]):
                    for w in range(columns[0, j], columns[1, j]):
                        v = x[c, h, w]
                        for n in range(N):
                            o[n] += v[n]
                for n in range(N):
                    o[n] *= scale[i, j]


@kernel
def average_gradient(dy, rows, columns, scale, tiles, dx, zero):
    """dx from dy; tiles: each pixel lies in one window, so it is written once."""
    C, HO, WO, N = dy.shape
    if not tiles:
        dx[:] = zero
    for c in range(C):
        for i in range(HO):
            for j in range(WO):
                d = dy[c, i, j]
                for h in range(rows[0, i], rows[1, i]):
                    for w in range(columns[0, j], columns[1, j]):
                        o = dx[c, h, w]
                        if tiles:
                            for n in range(N):
                                o[n] = d[n] * scale[i, j]
                        else:
                            for n in range(N):
                                o[n] += d[n] * scale[i, j]
