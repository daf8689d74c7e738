"""`product_tile`: the register tile that all products are made of: convolution, its data gradient, Winograd, dense layers.

R x V sums of 16 images each stay in registers while the taps go by.  A tap k of the sum and a column v of the result are
each one number from a *table of offsets*, to be added to an address: so stride, dilation, padding, kernel size, groups
and layout are only tables, and one compiled tile serves them all.  Bias is what the sums start with, ReLU a floor.
"""

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .llvm import (
    I64,
    at_least,
    fence,
    first_lanes,
    fma,
    load_at,
    masked_load,
    masked_store,
    number,
    plus,
    pointer,
    splat,
    store_at,
)

I = types.intp
NAMES = "R V w w0 ws wk x x0 xk k0 k1 xv yv v0 v1 whole y y0 ys lanes skip start s0 floor adds"


@intrinsic(prefer_literal=True)
def product_tile(
    typing, R, V, w, w0, ws, wk, x, x0, xk, k0, k1, xv, yv, v0, v1, whole, y, y0, ys, lanes, skip, start, s0, floor, adds
):  # fmt: skip
    """y[y0 + i ys + yv[v]] = max(floor, start[s0 + i] + sum_k w[w0 + i ws + wk[k]] x[x0 + xk[k] + xv[v]])

    for k0 <= k < k1, skip <= i < R, v0 <= v < min(v0 + V, v1); x and y are vectors of 16, of which the first `lanes` are
    stored, but of columns before `whole` all.  adds: the result is added to y (floor must be -inf).  R and V are constants;
    the tables xv, yv are read up to v0 + V.
    """
    rows, columns = range(R.literal_value), range(V.literal_value)

    def code(c, b, signature, a):
        address = Addresses(c, b, signature, a, NAMES)
        sums = start_sums(b, address, rows, columns)
        sum_taps(b, address, rows, columns, sums)
        store_sums(b, address, rows, columns, sums)
        return c.get_dummy_value()

    f, flag = types.float32, types.boolean
    return types.void(R, V, w, I, I, wk, x, I, xk, I, I, xv, yv, I, I, I, y, I, I, I, I, start, I, f, flag), code


class Addresses:
    """The arguments of an intrinsic by name: arrays as the address of their first element."""

    def __init__(self, context, builder, signature, arguments, names):
        for name, kind, value in zip(names.split(), signature.args, arguments):
            setattr(self, name, pointer(context, builder, kind, value) if isinstance(kind, types.Array) else value)


def at(b, array, i):
    """array[i]"""
    return b.load(b.gep(array, [i]))


def start_sums(b, p, rows, columns):
    """A variable for each sum (LLVM keeps them in registers), at its first value."""
    sums = {}
    for i in rows:
        first = splat(b, at(b, p.start, b.add(p.s0, number(i))))
        for j in columns:
            sums[i, j] = cgutils.alloca_once_value(b, first)
    return sums


def sum_taps(b, p, rows, columns, sums):
    """The loop that takes the time: for each tap, R weights and V vectors are loaded for R V multiply-adds."""
    x_column = [b.gep(p.x, [b.add(p.x0, at(b, p.xv, b.add(p.v0, number(j))))]) for j in columns]
    w_row = [b.mul(p.ws, number(i)) for i in rows]
    w_base = b.gep(p.w, [p.w0])
    with cgutils.for_range_slice(b, p.k0, p.k1, number(1), I64) as (k, _):
        x_tap = at(b, p.xk, k)
        w_tap = b.gep(w_base, [at(b, p.wk, k)])
        weights = [splat(b, at(b, w_tap, w_row[i])) for i in rows]
        for j in columns:
            value = load_at(b, b.gep(x_column[j], [x_tap]))
            fence(b)  # one column after the other, or there are not enough registers
            for i in rows:
                b.store(fma(b, weights[i], value, b.load(sums[i, j])), sums[i, j])


def store_sums(b, p, rows, columns, sums):
    """Apply the floor; store what belongs to the tile, never a lane more.

    Nearly all tiles are full, and are stored without masks: to make twenty of them takes as long as three taps.
    """
    end = b.add(p.v0, number(len(columns)))
    lanes = b.or_(b.icmp_signed("<=", end, p.whole), b.icmp_signed("==", p.lanes, number(16)))
    full = b.and_(lanes, b.and_(b.icmp_signed("<=", end, p.v1), b.icmp_signed("<=", p.skip, number(0))))
    place = [b.gep(p.y, [b.add(p.y0, at(b, p.yv, b.add(p.v0, number(j))))]) for j in columns]
    low = splat(b, p.floor)
    with b.if_else(full, likely=True) as (all_of_it, some_of_it):
        with all_of_it:
            store_rows(b, p, rows, columns, sums, place, low, None)
        with some_of_it:
            masks = [column_mask(b, p, b.add(p.v0, number(j))) for j in columns]
            for i in rows:
                with b.if_then(b.icmp_signed(">=", number(i), p.skip)):
                    store_rows(b, p, [i], columns, sums, place, low, masks)


def column_mask(b, p, v):
    """The lanes of column v that belong to the result."""
    lanes = b.select(b.icmp_signed("<", v, p.whole), number(16), p.lanes)
    return first_lanes(b, b.select(b.icmp_signed("<", v, p.v1), lanes, number(0)))


def store_rows(b, p, rows, columns, sums, place, low, masks):
    """Store the sums of some rows, of each column the lanes of its mask, or all."""
    target = {(i, j): b.gep(place[j], [b.mul(p.ys, number(i))]) for i in rows for j in columns}
    with b.if_then(p.adds, likely=False):
        for (i, j), y in target.items():
            old = load_at(b, y) if masks is None else masked_load(b, y, masks[j])
            b.store(plus(b, b.load(sums[i, j]), old), sums[i, j])
    for (i, j), y in target.items():
        value = at_least(b, b.load(sums[i, j]), low)
        store_at(b, value, y) if masks is None else masked_store(b, value, y, masks[j])
