"""`gradient_tile`: the register tile of filter gradients: R filters x K taps, summed over columns, blocks and lanes.

The same tables of offsets as in `product_tile`; the lanes (images) are summed at the end, in registers.
"""

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .llvm import I64, LANES, ZERO, fence, first_lanes, fma, load_at, masked_store, number, plus, shuffle
from .product_tile import Addresses, I, at

NAMES = "R K d d0 ds x x0 xk k0 dv xv columns blocks dn xn out"


@intrinsic(prefer_literal=True)
def gradient_tile(typing, R, K, d, d0, ds, x, x0, xk, k0, dv, xv, columns, blocks, dn, xn, out):
    """out[i K + q] = sum over blocks n, columns v and lanes of d[d0 + n dn + i ds + dv[v]] x[x0 + n xn + xk[k0 + q] + xv[v]]

    for i < R, q < K; R and K are constants.
    """
    rows, taps = range(R.literal_value), range(K.literal_value)

    def code(c, b, signature, a):
        p = Addresses(c, b, signature, a, NAMES)
        sums = {(i, q): cgutils.alloca_once_value(b, ZERO) for i in rows for q in taps}
        sum_columns(b, p, rows, taps, sums)
        store_lane_sums(b, p.out, [b.load(sums[i, q]) for i in rows for q in taps])
        return c.get_dummy_value()

    return types.void(R, K, d, I, I, x, I, xk, I, dv, xv, I, I, I, I, out), code


def sum_columns(b, p, rows, taps, sums):
    """The loop that takes the time: for each column, R deltas and K vectors of x are loaded for R K multiply-adds."""
    x_tap = [b.gep(p.x, [b.add(p.x0, at(b, p.xk, b.add(p.k0, number(q))))]) for q in taps]
    d_row = [b.gep(p.d, [b.add(p.d0, b.mul(p.ds, number(i)))]) for i in rows]
    with cgutils.for_range(b, p.blocks, intp=I64) as block:
        d_block, x_block = b.mul(block.index, p.dn), b.mul(block.index, p.xn)
        with cgutils.for_range(b, p.columns, intp=I64) as v:
            d_column, x_column = b.add(d_block, at(b, p.dv, v.index)), b.add(x_block, at(b, p.xv, v.index))
            deltas = [load_at(b, b.gep(d_row[i], [d_column])) for i in rows]
            for q in taps:
                value = load_at(b, b.gep(x_tap[q], [x_column]))
                fence(b)
                for i in rows:
                    b.store(fma(b, deltas[i], value, b.load(sums[i, q])), sums[i, q])


def store_lane_sums(b, out, vectors):
    """out[n] = sum of the lanes of vectors[n]"""
    for first in range(0, len(vectors), LANES):
        group = vectors[first : first + LANES]
        masked_store(b, lane_sums(b, group), b.gep(out, [number(first)]), first_lanes(b, number(len(group))))


def lane_sums(b, vectors):
    """One vector whose lane n is the sum of the lanes of vectors[n]: pairs are merged, four times."""
    vectors = vectors + [ZERO] * (LANES - len(vectors))
    low = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
    halves = (
        (in_fours([0, 16, 2, 18]), in_fours([1, 17, 3, 19])),  # neighbours
        (in_fours([0, 1, 16, 17]), in_fours([2, 3, 18, 19])),  # pairs
        (low, [n + 4 for n in low]),  # groups of four
        (low, [n + 4 for n in low]),
    )
    for even, odd in halves:
        vectors = [plus(b, shuffle(b, x, y, even), shuffle(b, x, y, odd)) for x, y in zip(vectors[::2], vectors[1::2])]
    return vectors[0]


def in_fours(lanes):
    """The same picking in each group of four lanes."""
    return [4 * group + n for group in range(4) for n in lanes]
