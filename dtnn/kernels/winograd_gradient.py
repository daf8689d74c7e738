"""The filter gradient by Winograd's F(4x4, 3x3): dw = G^T [sum over tiles of (A dy A^T) * (B^T x B)] G.

The transformed input is turned, image for channel, so that the product's lanes run over channels, its sum over tiles and
images, and nothing is left to be summed over lanes.
"""

from functools import cache

import numpy as np

from . import winograd_few
from .activations import sum_delta
from .cache import kernel
from .dense import steps
from .parts import add_partial_sums, partial_sums, parts_for, run
from .product_tile import product_tile
from .scratch import scratch
from .tile_sizes import choose_tile
from .turn_tile import turn_tile
from .winograd_tiles import count_tiles, expect_tile, tile_at, tiles_of
from .winograd_transforms import delta_tile, expect_delta, expect_input, filter_gradient_tile, input_tile

GROUP_BYTES = 1_200_000  # of a group of tiles: it stays in the second-level cache


def filter_gradient(x, dy, y, dw, dbias, window, back=True):
    """See `conv_direct.filter_gradient`."""
    sum_delta(dy, y, dbias)
    M, C = dw.shape[:2]
    if winograd_few.suits(M, C, count_tiles(dy.shape)):
        winograd_few.filter_gradient(x, dy, dw, window.padding)
        return
    wide = -(-C // 16) * 16
    parts = parts_for(dw.size * dy[0].size)
    group = tiles_of(C, M, max(1, count_tiles(dy.shape) // parts), GROUP_BYTES).group
    place_x, channel_d = group * 16 * wide + 80, group * 16 + 16
    place_d = M * channel_d + 80
    rest = partial_sums(parts, dw.size)
    run(
        gradient_kernel(*choose_tile(M, wide // 16, ((8, 1), (8, 2)))), parts,
        x.reshape(-1), x.shape, dy.reshape(-1), dy.shape, window.padding, dw.reshape(-1), rest, steps(group * 16, wide),
        steps(group * 16, 1), steps(wide // 16, 16), group, scratch("small", parts * 36 * 256),
        scratch("places of x", parts * 36 * place_x), place_x, wide, scratch("places of y", parts * 36 * place_d), channel_d,
        place_d, scratch("filters", parts * 36 * M * wide), scratch("filter places", parts * 9 * M * wide), scratch("zeros", M),
    )  # fmt: skip
    add_partial_sums(parts, rest, dw.reshape(-1))


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
                if c0 + c + 1 < C:
                    expect_input(x, (((c0 + c + 1) * H + h) * W + w) * N + n, W * N, N)
                elif k + 1 < count:
                    expect_tile(expect_input, x, x_shape, first + k + 1, padding, columns, vectors)
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
        part, parts, x, x_shape, d, d_shape, padding, g, rest, xk, wk, xv, group, small, v, place_x, wide, e, channel_d, place_d,
        du, q, nothing
    ):  # fmt: skip
        C, (M, HO, WO, N) = x_shape[0], d_shape
        columns, vectors = (WO + 3) // 4, (N + 15) // 16
        total, size = (HO + 3) // 4 * columns * vectors, M * wide
        small, v, e = small[part * 36 * 256 :], v[part * 36 * place_x :], e[part * 36 * place_d :]
        du, q, groups = du[part * 36 * size :], q[part * 9 * size :], (total + group - 1) // group
        last = min(total, groups * (part + 1) // parts * group)
        if part > 0:
            g = rest[(part - 1) * M * C * 9 : part * M * C * 9]
            g[:] = 0
        du[: 36 * size] = 0
        for first in range(groups * part // parts * group, last, group):
            count = min(group, last - first)
            load_turned_tiles(x, x_shape, padding, columns, vectors, first, count, small, v, place_x, wide)
            for m in range(M):
                for k in range(count):
                    h, w, n = tile_at(first + k, columns, vectors)
                    if m + 1 < M:
                        expect_delta(d, (((m + 1) * HO + h) * WO + w) * N + n, WO * N, N)
                    delta_tile(
                        d, ((m * HO + h) * WO + w) * N + n, WO * N, N, 0, HO - h, 0, WO - w, min(16, N - n),
                        e, m * channel_d + k * 16, place_d,
                    )  # fmt: skip
            for place in range(36):
                for c in range(0, wide // 16, V):
                    for m in range(0, M, R):
                        i = min(m, M - R)
                        product_tile(
                            R, V, e, place * place_d + i * channel_d, channel_d, wk, v, place * place_x, xk, 0, count * 16,
                            xv, xv, c, wide // 16, 0, du, place * size + i * wide, wide, 16, m - i, nothing, 0,
                            np.float32(-np.inf), True,
                        )  # fmt: skip
        for o in range(0, size, 16):
            filter_gradient_tile(du, o, size, q, o, size)
        for m in range(M):
            for c in range(C):
                for j in range(9):
                    g[(m * C + c) * 9 + j] += q[j * size + m * wide + c]

    return winograd_gradient
