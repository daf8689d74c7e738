"""Convolution of tiny images with many filters: for each pixel a matrix product of the filters' taps that it sees, and the batch.

The filters are the largest array by far, so they are read once: some output channels after the other, for all pixels.  Nothing is
copied, and nothing is multiplied by a border.
"""

from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from .cache import kernel
from .conv_plan_plain import groups, sight_back, sight_there
from .dense import USUAL, vectors
from .parts import parts_for, run
from .product_tile import product_tile
from .scratch import scratch
from .tile_sizes import choose_tile, table

MOST_PIXELS, LEAST_FILTERS, LEAST_IMAGES = 4, 64 * 1024, 16
NO_FLOOR = np.float32(-np.inf)


class PixelPlan(NamedTuple):
    """Where the taps of all pixels lie in the source and in a row of weights, and which of them are a pixel's."""

    xk: np.ndarray
    wk: np.ndarray
    reach: np.ndarray


def suits(x_shape, w_shape, y_shape):
    """Whether it pays: both images have a few pixels, and there are many filters."""
    few = max(x_shape[1] * x_shape[2], y_shape[1] * y_shape[2]) <= MOST_PIXELS
    return few and w_shape[0] * w_shape[1] >= LEAST_FILTERS and x_shape[3] >= LEAST_IMAGES


def forward(x, w, bias, y, window, relu=False):
    """See `conv_direct.forward`."""
    start = scratch("zeros", len(w)) if bias is None else bias
    run_product(
        forward_plan(x.shape, w.shape, y.shape, window), x, w, w[0].size, start, np.float32(0) if relu else NO_FLOOR, False, y
    )


def data_gradient(dy, w, dx, window, adds=False):
    """See `conv_direct.data_gradient`."""
    plan = data_gradient_plan(dx.shape, w.shape, dy.shape, window)
    run_product(plan, dy, w, w[0, 0].size, scratch("zeros", len(dx)), NO_FLOOR, adds, dx)


def run_product(plan, x, w, ws, start, floor, adds, y):
    """Call the kernel."""
    M, _, _, N = y.shape
    run(
        pixels_kernel(*choose_tile(M, -(-N // 16), USUAL)), parts_for(w.size * N),
        w.reshape(-1), ws, plan.wk, x.reshape(-1), plan.xk, plan.reach, vectors(N), N, y.reshape(-1), M, start, floor, adds,
    )  # fmt: skip


@lru_cache(64)
def forward_plan(x_shape, w_shape, y_shape, window):
    """Pixel (i, j) of y, and the taps (h, c, k)."""
    _, _, KH, KW = w_shape
    rows, columns = groups(y_shape, x_shape, w_shape, window, sight_there)
    return plan(x_shape, y_shape, rows, columns, lambda h, c, k: (c * KH + h) * KW + k)


@lru_cache(64)
def data_gradient_plan(x_shape, w_shape, y_shape, window):
    """Pixel (i, j) of dx, and the taps (h, m, k)."""
    _, C, KH, KW = w_shape
    rows, columns = groups(x_shape, y_shape, w_shape, window, sight_back)
    return plan(y_shape, x_shape, rows, columns, lambda h, m, k: (m * C * KH + h) * KW + k)


def plan(source, result, rows, columns, weight):
    """The tables, pixel after pixel of the result."""
    (C, H, W, N), (_, HO, WO, _), xk, wk = source, result, [], []
    reach = np.zeros((HO * WO, 2), np.int64)
    for (taps_h, some_rows), (taps_w, some_columns) in product(rows.items(), columns.items()):
        for (i, a), (j, b) in product(some_rows, some_columns):
            taps = [(h, a + up, c, k, b + left) for c in range(C) for h, up in taps_h for k, left in taps_w]
            reach[i * WO + j] = len(xk), len(xk) + len(taps)
            xk += [((c * H + p) * W + q) * N for _, p, c, _, q in taps]
            wk += [weight(h, c, k) for h, _, c, k, _ in taps]
    return PixelPlan(table(xk or [0]), table(wk or [0]), reach)


@cache
def pixels_kernel(tile_rows, tile_columns):
    """The kernel of one tile: R output channels x V vectors of 16 images."""
    R, V = tile_rows, tile_columns

    @kernel
    def pixels(part, parts, w, ws, wk, x, xk, reach, xv, N, y, M, start, floor, adds):
        whole, count, size = N // 16, (N + 15) // 16, len(reach) * N
        tiles = (M + R - 1) // R
        for m in range(tiles * part // parts * R, tiles * (part + 1) // parts * R, R):
            i = min(m, M - R)  # the last tile overlaps the one before
            for pixel in range(len(reach)):
                for v in range(0, count, V):
                    product_tile(
                        R, V, w, i * ws, ws, wk, x, 0, xk, reach[pixel, 0], reach[pixel, 1], xv, xv, v, count, whole,
                        y, i * size + pixel * N, size, N - 16 * whole, m - i, start, i, floor, adds,
                    )  # fmt: skip

    return pixels
