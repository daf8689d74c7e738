"""The filter gradient of a convolution with many channels on a small image: the vector lanes are input channels.

`conv_direct` sums over images in its lanes; with many channels its sums outgrow the cache.  Here x is turned once, in
registers, to [pixel, image][channel].  Then each tap's gradient is one matrix product, dw_tap = dy x_tap^T, over the
pixels that the tap sees inside the image: nothing is multiplied by a border.
"""

from functools import lru_cache

import numpy as np

from .activations import sum_delta
from .cache import kernel
from .dense import USUAL, product_kernel, vectors
from .parts import parts_for, run
from .scratch import scratch
from .tile_sizes import choose_tile, table
from .turn_tile import turn_tile

LEAST_CHANNELS, MOST_BYTES = 64, 2 * 1024 * 1024  # of x, which is turned as a whole
MOST_SUMS = 256 * 1024  # numbers that stay in the second-level cache


def suits(x):
    """Whether it pays."""
    return len(x) >= LEAST_CHANNELS and 0 < x.nbytes <= MOST_BYTES


def filter_gradient(x, dy, y, dw, dbias, window, back=True):
    """See `conv_direct.filter_gradient`."""
    sum_delta(dy, y, dbias)
    (C, H, W, N), (M, _, KH, KW) = x.shape, dw.shape
    wide, parts = -(-C // 16) * 16, parts_for(dw.size * dy[0].size)
    turned = scratch("turned", H * W * N * wide)
    run(turn_pixels, parts, x.reshape(-1), C, H * W, N, turned, wide)
    blocks = -(-M * wide * KH * KW // MOST_SUMS)  # of output channels
    for block in range(blocks):
        rows = slice(M * block // blocks, M * (block + 1) // blocks)
        add_products(turned, x.shape, wide, dy[rows], dw[rows], window, parts)


def add_products(turned, x_shape, wide, dy, dw, window, parts):
    """Sum the products of all taps in scratch, which stays in the cache, and add them to dw."""
    (M, C, KH, KW), size = dw.shape, len(dw) * wide
    sums, zeros, product = (
        scratch("taps", KH * KW * size),
        scratch("zeros", M),
        product_kernel(*choose_tile(M, wide // 16, USUAL)),
    )
    for tap, (wk, xk, K) in enumerate(tap_tables(x_shape, dw.shape, dy.shape, window)):
        run(
            product, parts,
            dy.reshape(-1), dy[0].size, wk, turned, xk, K, vectors(wide), wide, sums[tap * size : (tap + 1) * size], M, zeros,
            np.float32(-np.inf), False,
        )  # fmt: skip
    run(add_taps, parts, sums, KH * KW, M, C, wide, scratch("small", parts * 256), dw.reshape(-1))


@lru_cache(256)
def tap_tables(x_shape, w_shape, y_shape, window):
    """For each tap: where in a row of dy, and in which row of the turned x, each of its K terms lies."""
    (C, H, W, N), (_, _, KH, KW), (_, HO, WO, _) = x_shape, w_shape, y_shape
    (SH, SW), (PH, PW), (DH, DW) = window
    images, tables = np.arange(N), []
    for h in range(KH):
        for k in range(KW):
            i, j = np.mgrid[:HO, :WO].reshape(2, -1)
            a, b = i * SH - PH + h * DH, j * SW - PW + k * DW
            inside = (a >= 0) & (a < H) & (b >= 0) & (b < W)
            of_dy, of_x = (np.add.outer(pixel[inside] * N, images).reshape(-1) for pixel in (i * WO + j, a * W + b))
            of_x *= -(-C // 16) * 16
            tables.append((table(of_dy), table(of_x), len(of_x)) if inside.any() else (NOTHING, NOTHING, 0))
    return tables


NOTHING = table([0])


@kernel
def turn_pixels(part, parts, x, C, pixels, N, y, wide):
    """y[pixel, image][channel] from x (C, pixels, N); channels beyond C are zero."""
    for p in range(pixels * part // parts, pixels * (part + 1) // parts):
        for n in range(0, N, 16):
            count = min(16, N - n)
            for c in range(0, C, 16):
                turn_tile(x, (c * pixels + p) * N + n, pixels * N, min(16, C - c), y, (p * N + n) * wide + c, wide, count, 16)


@kernel
def add_taps(part, parts, sums, taps, M, C, wide, small, dw):
    """dw[m, c, tap] += sums[tap, m, c]; 16 channels at once are turned into small, scratch [16][16], if the taps are no more."""
    small = small[part * 256 :]
    for m in range(M * part // parts, M * (part + 1) // parts):
        if taps > 16:
            for c in range(C):
                for t in range(taps):
                    dw[(m * C + c) * taps + t] += sums[(t * M + m) * wide + c]
            continue
        for c in range(0, C, 16):
            turn_tile(sums, m * wide + c, M * wide, taps, small, 0, taps, 16, taps)
            for j in range(taps * min(16, C - c)):
                dw[(m * C + c) * taps + j] += small[j]
