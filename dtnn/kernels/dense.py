"""Products of a dense layer, batch last: Y = W X + b, dX = W^T dY, dW += dY X^T, on the tile of `product_tile.py`.

The vector lanes are images for Y and dX, and inputs for dW (X is turned first, in registers).  W is never copied: for dX
its rows and columns change places in the table of offsets.
"""

from functools import cache

import numpy as np

from .cache import kernel
from .parts import parts_for, run
from .product_tile import product_tile
from .scratch import scratch
from .tape import call
from .tile_sizes import choose_tile, table
from .turn_tile import turn

USUAL = ((5, 4),)
FEW = 2
NO_FLOOR = np.float32(-np.inf)


def forward(x, w, bias, y, relu=False):
    """y = w x + bias (then ReLU): x (D, N), w (M, D), bias (M,) or None, y (M, N); x needs 16 numbers of slack.

    2 M D N floating-point operations.
    """
    if x.dtype != np.float32:
        y[...] = w @ x if bias is None else w @ x + bias[:, None]
        if relu:
            y[y <= 0] = 0
        return
    if y.shape[1] <= FEW:
        call(of_few, x, w, bias, y, relu)
        return
    start = scratch("zeros", len(w)) if bias is None else bias
    product(w, w.shape[1], 1, x, y, start, np.float32(0) if relu else NO_FLOOR, False)


def of_few(x, w, bias, y, relu):
    """The same for so few images that the lanes would be empty: BLAS reads the weights at the speed of the memory."""
    with np.errstate(all="ignore"):  # as the kernels do: what is not finite stays so, and is told elsewhere
        np.matmul(w, x, out=y)
    if bias is not None:
        y += bias[:, None]
    if relu:
        np.maximum(y, 0, out=y)


def data_gradient(dy, w, dx, adds=False):
    """dx (D, N) = w^T dy (with `adds`: added to dx); dy needs 16 numbers of slack."""
    if dy.dtype != np.float32:
        dx[...] = w.T @ dy + (dx if adds else 0)
        return
    product(w, 1, w.shape[1], dy, dx, scratch("zeros", len(dx)), NO_FLOOR, adds)


def weight_gradient(x, dy, dw):
    """dw (M, D) += dy x^T."""
    if x.dtype != np.float32:
        dw += dy @ x.T
        return
    D, N = x.shape
    turned = scratch("turned", D * N)
    run(turn, parts_for(10 * D * N), x.reshape(-1), D, N, turned)
    product(dy, N, 1, turned[: D * N].reshape(N, D), dw, scratch("zeros", len(dw)), NO_FLOOR, True)


def product(w, ws, wk, x, y, start, floor, adds):
    """y (M, columns) = floor at (W x + start); W[i, k] lies at i ws + k wk."""
    (M, columns), K = y.shape, len(x)
    run(
        product_kernel(*choose_tile(M, -(-columns // 16), USUAL)), parts_for(M * K * columns),
        w.reshape(-1), ws, steps(K, wk), x.reshape(-1), steps(K, columns), K, vectors(columns), columns, y.reshape(-1), M,
        start, floor, adds,
    )  # fmt: skip


@cache
def steps(count, distance):
    """Table of `count` places that far apart."""
    return table(np.arange(max(1, count)) * distance)


@cache
def vectors(columns):
    """Table of the vectors of 16 in a row."""
    return table(np.arange(max(1, -(-columns // 16))) * 16)


@cache
def product_kernel(tile_rows, tile_columns):
    """The kernel of one tile: R rows of W x V vectors of 16."""
    R, V = tile_rows, tile_columns

    @kernel
    def dense(part, parts, w, ws, wk, x, xk, K, xv, columns, y, M, start, floor, adds):
        whole, count = columns // 16, (columns + 15) // 16
        tiles = (M + R - 1) // R
        m0, m1 = tiles * part // parts * R, tiles * (part + 1) // parts * R
        for v in range(0, count, V):
            for m in range(m0, m1, R):
                i = min(m, M - R)
                product_tile(
                    R, V, w, i * ws, ws, wk, x, 0, xk, 0, K, xv, xv, v, count, whole,
                    y, i * columns, columns, columns - 16 * whole, m - i, start, i, floor, adds,
                )  # fmt: skip

    return dense
