"""`pair_tile`: the register tile of products whose two factors both belong to each image, as in attention.

R x V sums of 16 images each; both factors are loaded as vectors, so R + V loads serve R V multiply-adds.
"""

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .llvm import I64, ZERO, first_lanes, fma, masked_load, masked_store, number, plus, splat
from .product_tile import Addresses, I


@intrinsic(prefer_literal=True)
def pair_tile(typing, R, V, a, a0, ai, ak, b, b0, bk, bj, K, c, c0, ci, cj, rows, columns, lanes, scale, adds):
    """c[c0 + i ci + j cj] = scale times the sum over k < K of a[a0 + i ai + k ak] b[b0 + k bk + j bj] (adds: added to c)

    for i < min(R, rows), j < min(V, columns) and the first `lanes` of 16 images; R and V are constants.
    """
    height, width = range(R.literal_value), range(V.literal_value)

    def code(context, build, signature, arguments):
        names = "R V a a0 ai ak b b0 bk bj K c c0 ci cj rows columns lanes scale adds"
        p = Addresses(context, build, signature, arguments, names)
        lanes = first_lanes(build, p.lanes)
        row_mask = [build.and_(lanes, splat(build, build.icmp_signed("<", number(i), p.rows))) for i in height]
        column_mask = [build.and_(lanes, splat(build, build.icmp_signed("<", number(j), p.columns))) for j in width]
        sums = {(i, j): cgutils.alloca_once_value(build, ZERO) for i in height for j in width}
        with cgutils.for_range(build, p.K, intp=I64) as loop:
            k_a, k_b = build.add(p.a0, build.mul(loop.index, p.ak)), build.add(p.b0, build.mul(loop.index, p.bk))
            left = [masked_load(build, place(build, p.a, k_a, i, p.ai), row_mask[i]) for i in height]
            for j in width:
                right = masked_load(build, place(build, p.b, k_b, j, p.bj), column_mask[j])
                for i in height:
                    build.store(fma(build, left[i], right, build.load(sums[i, j])), sums[i, j])
        factor = splat(build, p.scale)
        for i in height:
            for j in width:
                address = place(build, p.c, build.add(p.c0, build.mul(number(i), p.ci)), j, p.cj)
                mask = build.and_(row_mask[i], column_mask[j])
                old = masked_load(build, address, build.and_(mask, splat(build, p.adds)))
                masked_store(build, plus(build, build.fmul(factor, build.load(sums[i, j])), old), address, mask)
        return context.get_dummy_value()

    f, flag = types.float32, types.boolean
    return types.void(R, V, a, I, I, I, b, I, I, I, I, c, I, I, I, I, I, I, f, flag), code


def place(b, array, start, i, distance):
    """Address of array[start + i distance]"""
    return b.gep(array, [b.add(start, b.mul(number(i), distance))])
