"""The transforms of Winograd's F(4x4, 3x3): 16 products of a 3 x 3 filter from 36 multiplications instead of 144.

Y = A^T [(G w G^T) * (B^T d B)] A for a 6 x 6 piece d of the image, with the points 0, 1, -1, 2, -2 and infinity.  Each
transform is written once, as vector arithmetic on lists of 16-lane vectors, and becomes an intrinsic that loads, transforms
and stores a tile of 16 images (or 16 filters) in registers.

Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016.
"""

from numba import types
from numba.extending import intrinsic

from .llvm import at_least, first_lanes, load_at, masked_load, masked_store, minus, number, plus, prefetch, splat, store_at, times
from .product_tile import Addresses, I, at


def of_input(b, d):
    """B^T d, 6 -> 6"""
    p, q, r, s = times(b, -4, d[2], d[4]), times(b, -4, d[1], d[3]), minus(b, d[4], d[2]), minus(b, d[3], d[1])
    return [
        times(b, 4, d[0], times(b, -5, d[2], d[4])), plus(b, p, q), minus(b, p, q), times(b, 2, s, r), times(b, -2, s, r),
        times(b, 4, d[1], times(b, -5, d[3], d[5])),
    ]  # fmt: skip


def of_output(b, m):
    """A^T m, 6 -> 4"""
    p, q, r, s = plus(b, m[1], m[2]), minus(b, m[1], m[2]), plus(b, m[3], m[4]), minus(b, m[3], m[4])
    return [plus(b, plus(b, m[0], p), r), times(b, 2, s, q), times(b, 4, r, p), plus(b, times(b, 8, s, q), m[5])]


def of_delta(b, m):
    """A m, 4 -> 6"""
    p, q, r, s = plus(b, m[0], m[2]), plus(b, m[1], m[3]), times(b, 4, m[2], m[0]), times(b, 8, m[3], times(b, 2, m[1]))
    return [m[0], plus(b, p, q), minus(b, p, q), plus(b, r, s), minus(b, r, s), m[3]]


def of_filter(b, w):
    """G w, 3 -> 6"""
    s, t = times(b, 1 / 6, plus(b, w[0], w[2])), times(b, 1 / 6, w[1])
    e, z = times(b, 1 / 24, w[0], times(b, 1 / 6, w[2])), times(b, 1 / 12, w[1])
    return [times(b, 1 / 4, w[0]), times(b, -1, plus(b, s, t)), minus(b, t, s), plus(b, e, z), minus(b, e, z), w[2]]


def of_filter_gradient(b, m):
    """G^T m, 6 -> 3"""
    p, q, r, s = plus(b, m[1], m[2]), minus(b, m[2], m[1]), plus(b, m[3], m[4]), minus(b, m[3], m[4])
    return [
        minus(b, times(b, 1 / 24, r, times(b, 1 / 4, m[0])), times(b, 1 / 6, p)),
        times(b, 1 / 12, s, times(b, 1 / 6, q)),
        plus(b, times(b, 1 / 6, minus(b, r, p)), m[5]),
    ]


def on_both_sides(b, transform, values):
    """The transform applied to the columns, and then to the rows, of a square list of lists."""
    columns = [transform(b, [row[j] for row in values]) for j in range(len(values[0]))]
    return [transform(b, [column[i] for column in columns]) for i in range(len(columns[0]))]


def masks(b, size, low_h, high_h, low_w, high_w, lanes):
    """Mask of place (i, j): inside low_h <= i < high_h, low_w <= j < high_w, first `lanes` lanes."""

    def inside(i, low, high):
        return splat(b, b.and_(b.icmp_signed(">=", number(i), low), b.icmp_signed("<", number(i), high)))

    rows = [inside(i, low_h, high_h) for i in range(size)]
    columns = [b.and_(inside(j, low_w, high_w), first_lanes(b, lanes)) for j in range(size)]
    return [[b.and_(r, c) for c in columns] for r in rows]


def into_places(transform, size):
    """An intrinsic that transforms a piece of `size` x `size` pixels into 36 places."""

    @intrinsic
    def tile(typing, x, x0, row, pixel, low_h, high_h, low_w, high_w, lanes, v, v0, place):
        """v[v0 + p place] = transform of x[x0 + i row + j pixel], zero outside the limits."""

        def code(c, b, signature, a):
            p = Addresses(c, b, signature, a, "x x0 row pixel low_h high_h low_w high_w lanes v v0 place")
            source, target, kept = b.gep(p.x, [p.x0]), b.gep(p.v, [p.v0]), masks(b, size, *a[4:9])
            values = [
                [masked_load(b, grid(b, source, p.row, i, p.pixel, j), kept[i][j]) for j in range(size)] for i in range(size)
            ]
            for k, value in enumerate([value for line in on_both_sides(b, transform, values) for value in line]):
                store_at(b, value, b.gep(target, [b.mul(p.place, number(k))]))
            return c.get_dummy_value()

        return types.void(x, I, I, I, I, I, I, I, I, v, I, I), code

    return tile


def grid(b, start, row, i, pixel, j):
    """Address of start[i row + j pixel]"""
    return b.gep(start, [b.add(b.mul(row, number(i)), b.mul(pixel, number(j)))])


input_tile, delta_tile = into_places(of_input, 6), into_places(of_delta, 4)


@intrinsic
def output_tile(typing, adds, m, m0, place, bias, c0, floor, y, y0, row, pixel, high_h, high_w, lanes):
    """y[y0 + i row + j pixel] = max(floor, bias[c0] + A^T m A), (adds: added to y), inside the limits."""

    def code(c, b, signature, a):
        p = Addresses(c, b, signature, a, "adds m m0 place bias c0 floor y y0 row pixel high_h high_w lanes")
        source, target = b.gep(p.m, [p.m0]), b.gep(p.y, [p.y0])
        start, low = splat(b, at(b, p.bias, p.c0)), splat(b, p.floor)
        kept = masks(b, 4, number(0), p.high_h, number(0), p.high_w, p.lanes)
        values = [[load_at(b, b.gep(source, [b.mul(p.place, number(6 * i + j))])) for j in range(6)] for i in range(6)]
        for i, line in enumerate(on_both_sides(b, of_output, values)):
            for j, value in enumerate(line):
                address = grid(b, target, p.row, i, p.pixel, j)
                old = masked_load(b, address, b.and_(kept[i][j], splat(b, p.adds)))
                masked_store(b, at_least(b, plus(b, plus(b, value, start), old), low), address, kept[i][j])
        return c.get_dummy_value()

    return types.void(types.boolean, m, I, I, bias, I, types.float32, y, I, I, I, I, I, I), code


def expecting(size, write=False):
    """An intrinsic that asks for the cache lines of size x size pixels of 16 images, before they are needed."""

    @intrinsic
    def expect(typing, y, y0, row, pixel):
        """Those at y[y0 + i row + j pixel]."""

        def code(c, b, signature, a):
            p = Addresses(c, b, signature, a, "y y0 row pixel")
            for i in range(size):
                for j in range(size):
                    prefetch(b, grid(b, b.gep(p.y, [p.y0]), p.row, i, p.pixel, j), write)
            return c.get_dummy_value()

        return types.void(y, I, I, I), code

    return expect


expect_input, expect_delta, expect_output = expecting(6), expecting(4), expecting(4, write=True)


def between_places(transform, size_in, size_out):
    """An intrinsic that transforms 16 filters (or their gradients) from places to places."""

    @intrinsic
    def tile(typing, x, x0, place_x, y, y0, place_y):
        """y[y0 + p place_y] = transform of x[x0 + q place_x]"""

        def code(c, b, signature, a):
            p = Addresses(c, b, signature, a, "x x0 place_x y y0 place_y")
            source, target = b.gep(p.x, [p.x0]), b.gep(p.y, [p.y0])
            places = [load_at(b, b.gep(source, [b.mul(p.place_x, number(k))])) for k in range(size_in**2)]
            values = [places[size_in * i : size_in * (i + 1)] for i in range(size_in)]
            for k, value in enumerate([value for line in on_both_sides(b, transform, values) for value in line]):
                store_at(b, value, b.gep(target, [b.mul(p.place_y, number(k))]))
            return c.get_dummy_value()

        return types.void(x, I, I, y, I, I), code

    return tile


filter_tile, filter_gradient_tile = between_places(of_filter, 3, 6), between_places(of_filter_gradient, 6, 3)
