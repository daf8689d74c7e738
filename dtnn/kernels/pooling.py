"""Max pooling of batch-last images, 16 images at once; what lies outside the image is -inf, a NaN stays.

A ReLU that follows (or came before: maximum and ReLU may change places) is a floor of 0.
"""

from .cache import kernel
from .vector import add, larger, load_first, not_below, store_first, where_at_least, where_below, where_positive


@kernel
def part_of(C, HO, part, parts, apart):
    """The channels c0 .. c1 and rows i0 .. i1 of a part: some rows, as a convolution before it has them; or some channels, where
    there are few rows, or they aren't `apart`."""
    if apart and 2 * parts <= HO:
        return 0, C, HO * part // parts, HO * (part + 1) // parts
    return C * part // parts, C * (part + 1) // parts, 0, HO


@kernel
def max_pool(part, parts, x, x_shape, y, y_shape, size, stride, padding, floor):
    """y[c, i, j, n] = max(floor, largest x in the window of `size` at (i, j) stride - padding); x and y flat."""
    (C, H, W, N), (_, HO, WO, _) = x_shape, y_shape
    c0, c1, i0, i1 = part_of(C, HO, part, parts, True)
    for c in range(c0, c1):
        for i in range(i0, i1):
            h0, h1 = max(0, i * stride[0] - padding[0]), min(H, i * stride[0] - padding[0] + size[0])
            for j in range(WO):
                w0, w1 = max(0, j * stride[1] - padding[1]), min(W, j * stride[1] - padding[1] + size[1])
                o = ((c * HO + i) * WO + j) * N
                for n in range(0, N, 16):
                    lanes = min(16, N - n)
                    q = ((c * H + h0) * W + w0) * N + n
                    m = load_first(x, q, lanes)
                    if h1 - h0 == 2 and w1 - w0 == 2:
                        m = larger(m, load_first(x, q + N, lanes))
                        q += W * N
                        m = larger(larger(m, load_first(x, q, lanes)), load_first(x, q + N, lanes))
                    else:
                        for h in range(h1 - h0):
                            for w in range(w1 - w0):
                                m = larger(m, load_first(x, q + (h * W + w) * N, lanes))
                    store_first(y, o + n, not_below(m, floor), lanes)


@kernel
def max_pool_gradient(part, parts, x, x_shape, y, dy, y_shape, size, stride, padding, masked, tiles, dx):
    """dx: the first maximum of a window gets its gradient; masked: only if it is positive.

    tiles: the windows cover every pixel once; then dx is written once, and may be x.
    """
    (C, H, W, N), (_, HO, WO, _) = x_shape, y_shape
    c0, c1, i0, i1 = part_of(C, HO, part, parts, tiles)
    if not tiles:
        dx[c0 * H * W * N : c1 * H * W * N] = 0
    for c in range(c0, c1):
        for i in range(i0, i1):
            h0, h1 = max(0, i * stride[0] - padding[0]), min(H, i * stride[0] - padding[0] + size[0])
            for j in range(WO):
                w0, w1 = max(0, j * stride[1] - padding[1]), min(W, j * stride[1] - padding[1] + size[1])
                o = ((c * HO + i) * WO + j) * N
                for n in range(0, N, 16):
                    lanes = min(16, N - n)
                    m = load_first(y, o + n, lanes)
                    d = load_first(dy, o + n, lanes)
                    if masked:
                        d = where_positive(m, d)
                    q = ((c * H + h0) * W + w0) * N + n
                    if tiles and size[0] == 2 and size[1] == 2:
                        for p in (q, q + N, q + W * N):
                            v = load_first(x, p, lanes)
                            store_first(dx, p, where_at_least(v, m, d), lanes)
                            d = where_below(v, m, d)  # the first of equals takes it all
                        store_first(dx, q + W * N + N, d, lanes)
                        continue
                    for h in range(h1 - h0):
                        for w in range(w1 - w0):
                            p = q + (h * W + w) * N
                            v = load_first(x, p, lanes)
                            u = where_at_least(v, m, d)
                            d = where_below(v, m, d)
                            store_first(dx, p, u if tiles else add(u, load_first(dx, p, lanes)), lanes)
