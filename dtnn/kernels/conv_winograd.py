"""Winograd's minimal filtering F(4x4, 3x3) on batch-last arrays: 3 x 3, stride 1, any padding, image and batch.

A group of tiles (4 x 4 pixels x 16 images each) is transformed into scratch [36 places][C][tiles][16], multiplied place by
place with the transformed weights [36][M][C], and transformed back.  No halo and no copy: the transforms load straight from
the plain array and mask what is outside.  For the filter gradient the transformed input is turned, image for channel, so
that the product's lanes run over channels and nothing is left to be summed over lanes.

A single convolution differs from the direct one by 1e-6 (relative 2-norm), three times its rounding.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from .activations import sum_delta
from .cache import kernel
from .dense import steps
from .product_tile import product_tile
from .scratch import scratch
from .tile_sizes import choose_tile
from .turn_tile import turn_tile
from .winograd_transforms import (
    delta_tile,
    expect_input,
    expect_output,
    filter_gradient_tile,
    filter_tile,
    input_tile,
    output_tile,
)

NO_FLOOR = np.float32(-np.inf)
LEAST_CHANNELS, LEAST_PIXELS, MOST_LANES_WASTED = 16, 3, 2
GROUP_BYTES, GRADIENT_BYTES = 650_000, 1_200_000  # of a group of tiles: it stays in the second-level cache


class Tiles(NamedTuple):
    """How a group of `group` tiles lies in scratch: distances of channels and of the places of x and of y."""

    group: int
    channel: int
    place_x: int
    place_y: int


@cache
def tiles_of(C, M, count, budget):
    """The largest group (a power of two) that stays in the cache."""
    group = 4
    while 2 * group <= max(4, min(count, 64)) and 36 * (C + M) * 2 * group * 64 <= budget:
        group *= 2
    return Tiles(group, group * 16, C * group * 16 + 80, M * group * 16 + 80)


def count_tiles(shape):
    """Tiles of an output (M, HO, WO, N)."""
    return -(-shape[1] // 4) * -(-shape[2] // 4) * -(-shape[3] // 16)


def suits(w_shape, window):
    """Whether these kernels can do that convolution."""
    return tuple(w_shape[2:]) == (3, 3) and window.stride == window.dilation == (1, 1)


def pays(w_shape, y_shape):
    """Whether they beat the direct ones: enough channels for the transforms, pixels for the tiles, images for the lanes."""
    enough = min(w_shape[:2]) >= LEAST_CHANNELS and min(y_shape[1:3]) >= LEAST_PIXELS
    return enough and -(-y_shape[3] // 16) * 16 <= MOST_LANES_WASTED * y_shape[3]


def forward(x, w, bias, y, window, relu=False):
    """See `conv_direct.forward`."""
    start = scratch("zeros", len(w)) if bias is None else bias
    run_product(x, w, False, start, np.float32(0) if relu else NO_FLOOR, False, y, window.padding)


def data_gradient(dy, w, dx, window, adds=False):
    """See `conv_direct.data_gradient`: the product with the filters turned by 180 degrees."""
    padding = 2 - window.padding[0], 2 - window.padding[1]
    run_product(dy, w, True, scratch("zeros", len(dx)), NO_FLOOR, adds, dx, padding)


def run_product(x, w, turned, start, floor, adds, y, padding):
    """y = w * x, after transforming w into scratch."""
    (M, C), size = (w.shape[:2][::-1] if turned else w.shape[:2]), -(-w.size // (9 * 16)) * 16
    u, q = scratch("filters", 36 * size), scratch("filter places", 9 * size)
    transform_filters(w.reshape(-1), *w.shape[:2], turned, q, u, size)
    t = tiles_of(C, M, max(1, count_tiles(y.shape)), GROUP_BYTES)
    product_kernel(*choose_tile(M, t.group))(
        x.reshape(-1), x.shape, u, size, start, floor, adds, y.reshape(-1), y.shape, padding, steps(C, t.channel), steps(C, 1),
        steps(t.group, 16), t, scratch("places of x", 36 * t.place_x), scratch("places of y", 36 * t.place_y),
        scratch("zeros", M),
    )  # fmt: skip


def filter_gradient(x, dy, y, dw, dbias, window, back=True):
    """See `conv_direct.filter_gradient`."""
    sum_delta(dy, y, dbias)
    M, C = dw.shape[:2]
    wide = -(-C // 16) * 16
    group = tiles_of(C, M, max(1, count_tiles(dy.shape)), GRADIENT_BYTES).group
    place_x, channel_d = group * 16 * wide + 80, group * 16 + 16
    place_d = M * channel_d + 80
    gradient_kernel(*choose_tile(M, wide // 16))(
        x.reshape(-1), x.shape, dy.reshape(-1), dy.shape, window.padding, dw.reshape(-1), steps(group * 16, wide),
        steps(group * 16, 1), steps(wide // 16, 16), group, scratch("small", 36 * 256), scratch("places of x", 36 * place_x),
        place_x, wide, scratch("places of y", 36 * place_d), channel_d, place_d, scratch("filters", 36 * M * wide),
        scratch("filter places", 9 * M * wide), scratch("zeros", M),
    )  # fmt: skip


@kernel
def transform_filters(w, M, C, turned, q, u, size):
    """u[36][M][C] (turned: [36][C][M], filters rotated) from w (M, C, 3, 3); q is scratch [9][size]."""
    if turned:
        for m0 in range(0, M, 16):
            for c in range(C):
                for m in range(m0, min(m0 + 16, M)):
                    for j in range(9):
                        q[j * size + c * M + m] = w[(m * C + c) * 9 + 8 - j]
    else:
        for o in range(M * C):
            for j in range(9):
                q[j * size + o] = w[o * 9 + j]
    for o in range(0, size, 16):
        filter_tile(q, o, size, u, o, size)


@kernel
def tile_at(number, columns, vectors):
    """(row, column, first image) of a tile; they are ordered by row, column, block of images."""
    r = number // vectors
    row = r // columns
    return 4 * row, 4 * (r - row * columns), (number - r * vectors) * 16


@register_jitable
def expect_tiles(expect, x, C, H, W, N, first, count, place, columns, vectors):
    """Ask for one 36th of the cache lines of a group of tiles, while the products of a place are summed."""
    share = (C * count + 35) // 36
    for q in range(place * share, min((place + 1) * share, C * count)):
        h, w, n = tile_at(first + q % count, columns, vectors)
        expect(x, ((q // count * H + h) * W + w) * N + n, W * N, N)


@cache
def product_kernel(tile_rows, tile_columns):
    """The kernel of one tile: R output channels x V tiles x 16 images, for each of the 36 places."""
    R, V = tile_rows, tile_columns

    @kernel
    def winograd(x, x_shape, u, size, start, floor, adds, y, y_shape, padding, xk, wk, xv, tiles, v, p, nothing):
        (C, H, W, N), (M, HO, WO, _) = x_shape, y_shape
        group, channel, place_x, place_y = tiles
        columns, vectors = (WO + 3) // 4, (N + 15) // 16
        total = (HO + 3) // 4 * columns * vectors
        for first in range(0, total, group):
            count = min(group, total - first)
            for c in range(C):
                for k in range(count):
                    h, w, n = tile_at(first + k, columns, vectors)
                    h, w = h - padding[0], w - padding[1]
                    input_tile(
                        x, ((c * H + h) * W + w) * N + n, W * N, N, -h, H - h, -w, W - w, min(16, N - n),
                        v, c * channel + k * 16, place_x,
                    )  # fmt: skip
            for place in range(36):
                expect_tiles(expect_output, y, M, HO, WO, N, first, count, place, columns, vectors)
                if first + group < total:
                    expect_tiles(expect_input, x, C, H, W, N, first + group, count, place, columns, vectors)
                for t in range(0, count, V):
                    for m in range(0, M, R):
                        i = min(m, M - R)
                        product_tile(
                            R, V, u, place * size + i * C, C, wk, v, place * place_x, xk, 0, C, xv, xv, t, count,
                            p, place * place_y + i * channel, channel, 16, m - i, nothing, 0, np.float32(-np.inf), False,
                        )  # fmt: skip
            for m in range(M):
                for k in range(count):
                    h, w, n = tile_at(first + k, columns, vectors)
                    output_tile(
                        adds, p, m * channel + k * 16, place_y, start, m, floor, y, ((m * HO + h) * WO + w) * N + n, WO * N, N,
                        HO - h, WO - w, min(16, N - n),
                    )  # fmt: skip

    return winograd


@kernel
def load_turned_tiles(x, x_shape, padding, columns, vectors, first, count, small, v, place, wide):
    """v[place][tile, image][channel] from x; small is scratch [36][16][16]."""
    C, H, W, N = x_shape
    for k in range(count):
        h, w, n = tile_at(first + k, columns, vectors)
        h, w = h - padding[0], w - padding[1]
        for c0 in range(0, C, 16):
            rows = min(16, C - c0)
            for c in range(rows):
                input_tile(
                    x, (((c0 + c) * H + h) * W + w) * N + n, W * N, N, -h, H - h, -w, W - w, min(16, N - n), small, c * 16, 256
                )  # fmt: skip
            for p in range(36):
                turn_tile(small, p * 256, 16, rows, v, p * place + k * 16 * wide + c0, wide, 16, 16)


@cache
def gradient_kernel(tile_rows, tile_columns):
    """The kernel of one tile: R output channels x V vectors of 16 input channels, for each of the 36 places."""
    R, V = tile_rows, tile_columns

    @kernel
    def winograd_gradient(
        x, x_shape, d, d_shape, padding, g, xk, wk, xv, group, small, v, place_x, wide, e, channel_d, place_d, du, q, nothing
    ):  # fmt: skip
        C, (M, HO, WO, N) = x_shape[0], d_shape
        columns, vectors = (WO + 3) // 4, (N + 15) // 16
        total, size = (HO + 3) // 4 * columns * vectors, M * wide
        du[: 36 * size] = 0
        for first in range(0, total, group):
            count = min(group, total - first)
            load_turned_tiles(x, x_shape, padding, columns, vectors, first, count, small, v, place_x, wide)
            for m in range(M):
                for k in range(count):
                    h, w, n = tile_at(first + k, columns, vectors)
                    delta_tile(
                        d, ((m * HO + h) * WO + w) * N + n, WO * N, N, 0, HO - h, 0, WO - w, min(16, N - n),
                        e, m * channel_d + k * 16, place_d,
                    )  # fmt: skip
            for place in range(36):
                if first + group < total:
                    expect_tiles(expect_input, x, C, x_shape[1], x_shape[2], N, first + group, count, place, columns, vectors)
                    expect_tiles(expect_input, d, M, HO, WO, N, first + group, count, place, columns, vectors)
                for c in range(0, wide // 16, V):
                    for m in range(0, M, R):
                        i = min(m, M - R)
                        product_tile(
                            R, V, e, place * place_d + i * channel_d, channel_d, wk, v, place * place_x, xk, 0, count * 16,
                            xv, xv, c, wide // 16, du, place * size + i * wide, wide, 16, m - i, nothing, 0,
                            np.float32(-np.inf), True,
                        )  # fmt: skip
        for o in range(0, size, 16):
            filter_gradient_tile(du, o, size, q, o, size)
        for m in range(M):
            for c in range(C):
                for j in range(9):
                    g[(m * C + c) * 9 + j] += q[j * size + m * wide + c]

    return winograd_gradient
