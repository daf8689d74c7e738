"""Winograd's minimal filtering F(4x4, 3x3) on batch-last arrays: 3 x 3, stride 1, any padding, image and batch.

A group of tiles (4 x 4 pixels x 16 images each) is transformed into scratch [36 places][C][tiles][16], multiplied place by
place with the transformed weights [36][M][C], and transformed back.  No halo and no copy: the transforms load straight from
the plain array and mask what is outside.

A single convolution differs from the direct one by 1e-6 (relative 2-norm), three times its rounding.
"""

from functools import cache

import numpy as np

from . import winograd_few
from .cache import kernel
from .dense import steps
from .parts import parts_for, run
from .product_tile import product_tile
from .scratch import scratch
from .tile_sizes import choose_tile, odd_lines
from .winograd_few import transform_some
from .winograd_gradient import filter_gradient  # noqa: F401  the third of the algorithm's functions
from .winograd_tiles import count_tiles, expect_tile, expect_tiles, tile_at, tiles_of
from .winograd_transforms import expect_input, expect_output, input_tile, output_tile

NO_FLOOR = np.float32(-np.inf)
LEAST_CHANNELS, LEAST_PIXELS, MOST_LANES_WASTED = 16, 3, 2
GROUP_BYTES = 650_000  # of a group of tiles: it stays in the second-level cache


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
    (M, C), size = (w.shape[:2][::-1] if turned else w.shape[:2]), odd_lines(w.size // 9 + 15)
    if winograd_few.suits(M, C, count_tiles(y.shape)):
        winograd_few.run_product(x, w, turned, start, floor, adds, y, padding)
        return
    parts, u = parts_for(w.size * y[0].size), scratch("filters", 36 * size)
    few = parts_for(50 * w.size)
    run(transform_filters, few, w.reshape(-1), *w.shape[:2], turned, scratch("filter places", few * 144), u, size)
    t = tiles_of(C, M, max(1, count_tiles(y.shape) // parts), GROUP_BYTES)
    run(
        product_kernel(*choose_tile(M, t.group, ((4, 4),))), parts,
        x.reshape(-1), x.shape, u, size, start, floor, adds, y.reshape(-1), y.shape, padding, steps(C, t.channel), steps(C, 1),
        steps(t.group, 16), t, scratch("places of x", parts * 36 * t.place_x),
        scratch("places of y", parts * 36 * t.place_y), scratch("zeros", M),
    )  # fmt: skip


@kernel
def transform_filters(part, parts, w, M, C, turned, q, u, size):
    """u[36][M][C] (turned: [36][C][M], filters rotated) from w (M, C, 3, 3); q is scratch [9][16] of each part."""
    vectors = (M * C + 15) // 16
    first, last = vectors * part // parts * 16, min(M * C, vectors * (part + 1) // parts * 16)
    transform_some(w, M, C, turned, first, last, q, part * 144, u, first, size)


@cache
def product_kernel(tile_rows, tile_columns):
    """The kernel of one tile: R output channels x V tiles x 16 images, for each of the 36 places."""
    R, V = tile_rows, tile_columns

    @kernel
    def winograd(
        part, parts, x, x_shape, u, size, start, floor, adds, y, y_shape, padding, xk, wk, xv, tiles, v, p, nothing
    ):  # fmt: skip
        (C, H, W, N), (M, HO, WO, _) = x_shape, y_shape
        group, channel, place_x, place_y = tiles
        columns, vectors = (WO + 3) // 4, (N + 15) // 16
        total = (HO + 3) // 4 * columns * vectors
        groups, v, p = (total + group - 1) // group, v[part * 36 * place_x :], p[part * 36 * place_y :]
        last = min(total, groups * (part + 1) // parts * group)
        for first in range(groups * part // parts * group, last, group):
            count = min(group, last - first)
            for c in range(C):
                for k in range(count):
                    h, w, n = tile_at(first + k, columns, vectors)
                    h, w = h - padding[0], w - padding[1]
                    if c + 1 < C:
                        expect_input(x, (((c + 1) * H + h) * W + w) * N + n, W * N, N)
                    elif first + group + k < last:
                        expect_tile(expect_input, x, x_shape, first + group + k, padding, columns, vectors)
                    input_tile(
                        x, ((c * H + h) * W + w) * N + n, W * N, N, -h, H - h, -w, W - w, min(16, N - n),
                        v, c * channel + k * 16, place_x,
                    )  # fmt: skip
            for place in range(36):
                expect_tiles(expect_output, y, M, HO, WO, N, first, count, place, columns, vectors)
                for t in range(0, count, V):
                    for m in range(0, M, R):
                        i = min(m, M - R)
                        product_tile(
                            R, V, u, place * size + i * C, C, wk, v, place * place_x, xk, 0, C, xv, xv, t, count, 0,
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
