"""Winograd's F(4x4, 3x3) with few tiles and many filters: the last layers of a deep network.

Transformed, the filters of 512 x 512 channels take 38 MB, four times as much as before, while an image of 4 x 4 pixels is one
tile.  So here all tiles are transformed first, and then a block of output channels after the other: its filters are
transformed, multiplied with all tiles, and forgotten, in the cache.  The filters' gradient is summed by blocks likewise, and no
two threads add to the same.  The numbers are those of `conv_winograd`, to the last bit if that has one group of tiles.
"""

from functools import cache

import numpy as np

from .cache import kernel
from .dense import steps
from .parts import parts_for, run
from .product_tile import product_tile
from .scratch import scratch
from .tile_sizes import choose_tile, odd_lines
from .turn_tile import turn_tile
from .winograd_tiles import count_tiles, tile_at
from .winograd_transforms import delta_tile, filter_gradient_tile, filter_tile, input_tile, output_tile

MOST_TILES, LEAST_FILTERS, BLOCK = 16, 64 * 1024, 32  # a block is of so many output channels, or a few less
NO_FLOOR = np.float32(-np.inf)


def suits(M, C, tiles):
    """Whether it pays."""
    return tiles <= MOST_TILES and M * C >= LEAST_FILTERS


def blocks_of(M):
    """(number of blocks of output channels, the most in one)"""
    count = -(-M // BLOCK)
    return count, -(-M // count)


def run_product(x, w, turned, start, floor, adds, y, padding):
    """See `conv_winograd.run_product`."""
    (M, C), total, parts = (w.shape[:2][::-1] if turned else w.shape[:2]), count_tiles(y.shape), parts_for(w.size * y[0].size)
    blocks, most = blocks_of(M)
    channel = total * 16
    size, place_x, place_y = odd_lines(most * C + 15), odd_lines(C * channel), odd_lines(most * channel)
    v = scratch("places of x", 36 * place_x)
    run(transform_tiles, parts, x.reshape(-1), x.shape, y.shape, padding, v, place_x)
    run(
        product_kernel(*choose_tile(M // blocks, total, ((4, 4),))), parts,
        w.reshape(-1), *w.shape[:2], turned, scratch("filter places", parts * 144), scratch("filters", parts * 36 * size), size,
        v, place_x, steps(C, channel), steps(C, 1), steps(total, 16), C, start, floor, adds, y.reshape(-1), y.shape,
        scratch("places of y", parts * 36 * place_y), place_y, blocks, scratch("zeros", M),
    )  # fmt: skip


def filter_gradient(x, dy, dw, padding):
    """Add the filters' gradient to dw."""
    (M, C), total, parts = dw.shape[:2], count_tiles(dy.shape), parts_for(dw.size * dy[0].size)
    blocks, most = blocks_of(M)
    images, wide = total * 16, -(-C // 16) * 16
    size, place_x, place_d = odd_lines(most * wide), odd_lines(images * wide), odd_lines(M * (images + 16))
    v, e = scratch("places of x", 36 * place_x), scratch("places of y", 36 * place_d)
    run(turn_tiles, parts, x.reshape(-1), x.shape, dy.shape, padding, scratch("small", parts * 36 * 256), v, place_x, wide)
    run(transform_deltas, parts, dy.reshape(-1), dy.shape, e, images + 16, place_d)
    run(
        gradient_kernel(*choose_tile(M // blocks, wide // 16, ((8, 1), (8, 2)))), parts,
        e, images + 16, place_d, v, place_x, wide, steps(images, wide), steps(images, 1), steps(wide // 16, 16), images,
        dw.reshape(-1), M, C, scratch("filters", parts * 36 * size), scratch("filter places", parts * 9 * size), size, blocks,
        scratch("small", parts * 36 * 256), scratch("zeros", M),
    )  # fmt: skip


@kernel
def transform_some(w, M, C, turned, first, last, q, q0, u, u0, size):
    """u[36][...] from u0 on for the filters first .. last - 1 of w (M, C, 3, 3) (turned: (C, M), rotated); q: scratch [9][16]."""
    for start in range(first, last, 16):
        for o in range(start, min(start + 16, last)):
            if turned:
                c, m = o // M, o % M
                for j in range(9):
                    q[q0 + j * 16 + o - start] = w[(m * C + c) * 9 + 8 - j]
            else:
                for j in range(9):
                    q[q0 + j * 16 + o - start] = w[o * 9 + j]
        filter_tile(q, q0, 16, u, u0 + start - first, size)


@kernel
def transform_tiles(part, parts, x, x_shape, y_shape, padding, v, place):
    """v[36][C][tile, image] from x, all tiles of some channels."""
    (C, H, W, N), (_, HO, WO, _) = x_shape, y_shape
    columns, vectors = (WO + 3) // 4, (N + 15) // 16
    total = (HO + 3) // 4 * columns * vectors
    for c in range(C * part // parts, C * (part + 1) // parts):
        for k in range(total):
            h, w, n = tile_at(k, columns, vectors)
            h, w = h - padding[0], w - padding[1]
            input_tile(
                x, ((c * H + h) * W + w) * N + n, W * N, N, -h, H - h, -w, W - w, min(16, N - n), v, (c * total + k) * 16, place
            )


@kernel
def turn_tiles(part, parts, x, x_shape, y_shape, padding, small, v, place, wide):
    """v[36][tile, image][channel] from x, all tiles of some channels; small is scratch [36][16][16]."""
    (C, H, W, N), (_, HO, WO, _) = x_shape, y_shape
    columns, vectors, small = (WO + 3) // 4, (N + 15) // 16, small[part * 36 * 256 :]
    total, sixteens = (HO + 3) // 4 * columns * vectors, wide // 16
    for c0 in range(sixteens * part // parts * 16, sixteens * (part + 1) // parts * 16, 16):
        rows = min(16, C - c0)
        for k in range(total):
            h, w, n = tile_at(k, columns, vectors)
            h, w = h - padding[0], w - padding[1]
            for c in range(rows):
                input_tile(
                    x, (((c0 + c) * H + h) * W + w) * N + n, W * N, N, -h, H - h, -w, W - w, min(16, N - n), small, c * 16, 256
                )  # fmt: skip
            for p in range(36):
                turn_tile(small, p * 256, 16, rows, v, p * place + k * 16 * wide + c0, wide, 16, 16)


@kernel
def transform_deltas(part, parts, d, d_shape, e, channel, place):
    """e[36][M][tile, image] from dy, all tiles of some channels."""
    M, HO, WO, N = d_shape
    columns, vectors = (WO + 3) // 4, (N + 15) // 16
    for m in range(M * part // parts, M * (part + 1) // parts):
        for k in range((HO + 3) // 4 * columns * vectors):
            h, w, n = tile_at(k, columns, vectors)
            delta_tile(
                d, ((m * HO + h) * WO + w) * N + n, WO * N, N, 0, HO - h, 0, WO - w, min(16, N - n),
                e, m * channel + k * 16, place,
            )  # fmt: skip


@cache
def product_kernel(tile_rows, tile_columns):
    """The kernel of one tile: R output channels x V tiles x 16 images, for each of the 36 places."""
    R, V = tile_rows, tile_columns

    @kernel
    def winograd_few(
        part, parts, w, wm, wc, turned, q, u, size, v, place_x, xk, wk, xv, C, start, floor, adds, y, y_shape, p, place_y, blocks,
        nothing
    ):  # fmt: skip
        M, HO, WO, N = y_shape
        columns, vectors = (WO + 3) // 4, (N + 15) // 16
        total = (HO + 3) // 4 * columns * vectors
        channel, u, p = total * 16, u[part * 36 * size :], p[part * 36 * place_y :]
        for block in range(blocks * part // parts, blocks * (part + 1) // parts):
            m0, m1 = M * block // blocks, M * (block + 1) // blocks
            transform_some(w, wm, wc, turned, m0 * C, m1 * C, q, part * 144, u, 0, size)
            for place in range(36):
                for t in range(0, total, V):
                    for m in range(0, m1 - m0, R):
                        i = min(m, m1 - m0 - R)
                        product_tile(
                            R, V, u, place * size + i * C, C, wk, v, place * place_x, xk, 0, C, xv, xv, t, total, 0,
                            p, place * place_y + i * channel, channel, 16, m - i, nothing, 0, NO_FLOOR, False,
                        )  # fmt: skip
            for m in range(m0, m1):
                for k in range(total):
                    h, l, n = tile_at(k, columns, vectors)
                    output_tile(
                        adds, p, (m - m0) * channel + k * 16, place_y, start, m, floor, y, ((m * HO + h) * WO + l) * N + n,
                        WO * N, N, HO - h, WO - l, min(16, N - n),
                    )  # fmt: skip

    return winograd_few


@cache
def gradient_kernel(tile_rows, tile_columns):
    """The kernel of one tile: R output channels x V vectors of 16 input channels, for each of the 36 places."""
    R, V = tile_rows, tile_columns

    @kernel
    def winograd_few_gradient(
        part, parts, e, channel, place_d, v, place_x, wide, xk, wk, xv, images, g, M, C, du, q, size, blocks, small, nothing
    ):  # fmt: skip
        du, q, small = du[part * 36 * size :], q[part * 9 * size :], small[part * 36 * 256 :]
        for block in range(blocks * part // parts, blocks * (part + 1) // parts):
            m0, m1 = M * block // blocks, M * (block + 1) // blocks
            for place in range(36):
                for c in range(0, wide // 16, V):
                    for m in range(0, m1 - m0, R):
                        i = min(m, m1 - m0 - R)
                        product_tile(
                            R, V, e, place * place_d + (m0 + i) * channel, channel, wk, v, place * place_x, xk, 0, images,
                            xv, xv, c, wide // 16, 0, du, place * size + i * wide, wide, 16, m - i, nothing, 0, NO_FLOOR, False,
                        )  # fmt: skip
            for o in range(0, (m1 - m0) * wide, 16):
                filter_gradient_tile(du, o, size, q, o, size)
            for m in range(m0, m1):
                for c in range(0, C, 16):
                    turn_tile(q, (m - m0) * wide + c, size, 9, small, 0, 9, 16, 9)
                    for j in range(9 * min(16, C - c)):
                        g[(m * C + c) * 9 + j] += small[j]

    return winograd_few_gradient
