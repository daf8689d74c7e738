"""Copies between plain batch-last arrays and the small scratch that the convolution's tiles run on.

Scratch is s[block][channel][row][column][16 images]: the zero border is part of it, so the tiles know no border, and whatever
the batch is, a tile reads full vectors.
"""

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .cache import kernel
from .llvm import ZERO, load_at, pointer, store_at
from .vector import add, load, load_first, store, store_first, total, vector, where_positive, zero


@kernel
def load_strip(x, C, H, W, N, n0, blocks, row0, rows, col0, columns, s, sc, sn):
    """s[b, c, i, j] = x[c, row0 + i, col0 + j, n0 + 16 b : n0 + 16 b + 16]; zero outside the image and the batch.

    sc, sn: distance of channels and blocks in s.
    """
    j0 = min(max(0, -col0), columns)
    j1 = max(j0, min(columns, W - col0))
    full = min(blocks, (N - n0) // 16)
    for c in range(C):
        for i in range(rows):
            h = row0 + i
            q = c * sc + i * columns * 16
            if h < 0 or h >= H:
                for b in range(blocks):
                    for j in range(columns):
                        store(s, q + b * sn + j * 16, zero())
                continue
            for b in range(blocks):
                for j in range(j0):
                    store(s, q + b * sn + j * 16, zero())
                for j in range(j1, columns):
                    store(s, q + b * sn + j * 16, zero())
            p = ((c * H + h) * W + col0) * N + n0
            if full == 4:  # the usual case reads four cache lines in a row
                for j in range(j0, j1):
                    store(s, q + j * 16, load(x, p + j * N))
                    store(s, q + sn + j * 16, load(x, p + j * N + 16))
                    store(s, q + 2 * sn + j * 16, load(x, p + j * N + 32))
                    store(s, q + 3 * sn + j * 16, load(x, p + j * N + 48))
            else:
                for b in range(full):
                    for j in range(j0, j1):
                        store(s, q + b * sn + j * 16, load(x, p + j * N + b * 16))
            if full < blocks:
                for j in range(j0, j1):
                    store(s, q + full * sn + j * 16, load_first(x, p + j * N + full * 16, N - n0 - full * 16))


@intrinsic
def masked_delta(_, d, y, i, masked, back):
    """d[i : i+16]; if masked, zero where y is not positive; if back, that is also written to d."""

    def code(c, b, s, v):
        place = pointer(c, b, s.args[0], v[0], v[2])
        value = cgutils.alloca_once_value(b, load_at(b, place))
        with b.if_then(v[3]):
            positive = b.fcmp_ordered(">", load_at(b, pointer(c, b, s.args[1], v[1], v[2])), ZERO)
            b.store(b.select(positive, b.load(value), ZERO), value)
            with b.if_then(v[4]):
                store_at(b, b.load(value), place)
        return b.load(value)

    return vector(d, y, types.intp, types.boolean, types.boolean), code


@kernel(inlined=True)
def load_delta_strip(d, y, C, H, W, N, n0, blocks, row0, rows, s, sc, sn, masked, back, bias):
    """The same for dy, without a border: masked by the ReLU that followed (y > 0), and summed into the bias gradient.

    masked: y decides; back: the masked dy is also written back, for the data gradient.
    """
    full = min(blocks, (N - n0) // 16)
    tail = N - n0 - full * 16
    for c in range(C):
        s0 = s1 = s2 = s3 = zero()  # four sums, because one would be a chain of waiting additions
        for i in range(rows):
            p = (c * H + row0 + i) * W * N + n0
            q = c * sc + i * W * 16
            if full == 4:
                for j in range(W):
                    o = p + j * N
                    v = masked_delta(d, y, o, masked, back)
                    store(s, q + j * 16, v)
                    s0 = add(s0, v)
                    v = masked_delta(d, y, o + 16, masked, back)
                    store(s, q + sn + j * 16, v)
                    s1 = add(s1, v)
                    v = masked_delta(d, y, o + 32, masked, back)
                    store(s, q + 2 * sn + j * 16, v)
                    s2 = add(s2, v)
                    v = masked_delta(d, y, o + 48, masked, back)
                    store(s, q + 3 * sn + j * 16, v)
                    s3 = add(s3, v)
                continue
            for b in range(full):
                for j in range(W):
                    v = masked_delta(d, y, p + j * N + b * 16, masked, back)
                    store(s, q + b * sn + j * 16, v)
                    s0 = add(s0, v)
            if full < blocks:
                for j in range(W):
                    o = p + j * N + full * 16
                    v = load_first(d, o, tail)
                    if masked:
                        v = where_positive(load_first(y, o, tail), v)
                        store_first(d, o, v, tail)
                    store(s, q + full * sn + j * 16, v)
                    s1 = add(s1, v)
        bias[c] += total(add(add(s0, s1), add(s2, s3)))
