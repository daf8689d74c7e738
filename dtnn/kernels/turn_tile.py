"""`turn_tile`: a 16 x 16 block transposed in registers; `turn`: a whole matrix, block by block."""

from numba import types
from numba.extending import intrinsic

from .cache import kernel
from .llvm import LANES, first_lanes, masked_load, masked_store, number, shuffle, splat
from .product_tile import Addresses, I


@intrinsic
def turn_tile(typing, x, x0, xs, rows, y, y0, ys, count, width):
    """y[y0 + l ys + i] = x[x0 + i xs + l] for l < count, i < width <= 16; rows of x from `rows` on count as zero."""

    def code(c, b, signature, a):
        p = Addresses(c, b, signature, a, "x x0 xs rows y y0 ys count width")
        source, target = b.gep(p.x, [p.x0]), b.gep(p.y, [p.y0])
        kept = first_lanes(b, p.count)
        vectors = []
        for i in range(LANES):
            mask = b.and_(kept, splat(b, b.icmp_signed("<", number(i), p.rows)))
            vectors.append(masked_load(b, b.gep(source, [b.mul(p.xs, number(i))]), mask))
        stored = first_lanes(b, p.width)
        for l, vector in enumerate(turned(b, vectors)):
            mask = b.and_(stored, splat(b, b.icmp_signed("<", number(l), p.count)))
            masked_store(b, vector, b.gep(target, [b.mul(p.ys, number(l))]), mask)
        return c.get_dummy_value()

    return types.void(x, I, I, I, y, I, I, I, I), code


def turned(b, vectors):
    """Lane i of vector l becomes lane l of vector i: places whose numbers differ in one bit are exchanged, bit after bit."""
    for bit in (1, 2, 4, 8):
        low = [LANES + l - bit if l & bit else l for l in range(LANES)]
        high = [LANES + l if l & bit else l + bit for l in range(LANES)]
        after = list(vectors)
        for i in range(LANES):
            if not i & bit:
                x, y = vectors[i], vectors[i + bit]
                after[i], after[i + bit] = shuffle(b, x, y, low), shuffle(b, x, y, high)
        vectors = after
    return vectors


@kernel
def turn(part, parts, x, D, N, y):
    """y (N, D) = transposed x (D, N), both flat."""
    for n in range(0, N, 16):
        for i in range(part * 16, D, parts * 16):
            rows = min(16, D - i)
            turn_tile(x, i * N + n, N, rows, y, n * D + i, D, min(16, N - n), rows)
