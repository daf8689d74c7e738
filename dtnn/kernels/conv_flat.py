"""Convolution with stride 1 of few images: the vector lanes run along rows of the image, whatever the batch is.

In memory a padded image is one long row of (pixel, image).  A tap (h, k) sees the same row, h lines and k pixels further:
so y is a one-dimensional sum over shifted copies, vectors may begin anywhere, and no lane is wasted but on the border.  What
falls on the border is computed and not stored.  With 16, 32 ... images `conv_direct` needs neither.

The same three functions as `conv_direct`, with the same arguments.
"""

from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from .activations import sum_delta
from .cache import kernel
from .conv_plan import USUAL, USUAL_GRADIENT
from .dense import vectors
from .gradient_tile import gradient_tile
from .product_tile import product_tile
from .scratch import scratch
from .tape import call
from .tile_sizes import choose_tile, odd_lines, table

NO_FLOOR = np.float32(-np.inf)
STRIP_BYTES = 256 * 1024
MOST_LANES_WASTED = 2.2  # lanes of blocks of 16 images for each image: beyond that the border of the rows costs less


def suits(x_shape, window):
    """Whether it pays: stride 1, and many lanes without an image."""
    count = x_shape[3]
    return window.stride == (1, 1) and count > 0 and -(-count // 16) * 16 > MOST_LANES_WASTED * count


class FlatPlan(NamedTuple):
    """How a strip of `strip` rows, each of `columns` pixels with the border, lies in scratch; offsets of the taps."""

    strip: int
    columns: int
    reach: int  # rows that a window sees below its first
    channel: int  # distance of channels of x in scratch
    out: int  # and of y
    xk: np.ndarray
    wk: np.ndarray
    ws: int
    xv: np.ndarray


def forward(x, w, bias, y, window, relu=False):
    """See `conv_direct.forward`."""
    start = scratch("zeros", len(w)) if bias is None else bias
    plan = flat_plan(x.shape, w.shape, y.shape, window.dilation, False)
    run(plan, x, w, start, np.float32(0) if relu else NO_FLOOR, False, y, window.padding)


def data_gradient(dy, w, dx, window, adds=False):
    """See `conv_direct.data_gradient`: the forward product with the filters turned by 180 degrees."""
    plan = flat_plan(dy.shape, w.shape, dx.shape, window.dilation, True)
    padding = tuple((k - 1) * d - p for k, d, p in zip(w.shape[2:], window.dilation, window.padding))
    run(plan, dy, w, scratch("zeros", len(dx)), NO_FLOOR, adds, dx, padding)


def filter_gradient(x, dy, y, dw, dbias, window, back=True):
    """See `conv_direct.filter_gradient`."""
    sum_delta(dy, y, dbias)
    plan = flat_plan(x.shape, dw.shape, dy.shape, window.dilation, False)
    taps = dw[0].size
    xk = by_channel(x.shape, dw.shape, dy.shape, window.dilation)
    call(
        gradient_kernel(*choose_tile(len(dy), taps, USUAL_GRADIENT, gradient=True)),
        x.reshape(-1), x.shape, dy.reshape(-1), dy.shape, dw.reshape(-1), window.padding, xk, taps, plan.xv, plan.strip,
        plan.columns, plan.reach, plan.channel, plan.out, scratch("strip", len(x) * plan.channel),
        scratch("delta", len(dy) * plan.out), scratch("out", 64),
    )  # fmt: skip


def run(plan, x, w, start, floor, adds, y, padding):
    """Call the kernel of the plan's tile."""
    call(
        product_kernel(*choose_tile(len(y), len(plan.xv) - 16, USUAL)),
        x.reshape(-1), x.shape, w.reshape(-1), plan.wk, plan.ws, start, floor, adds, y.reshape(-1), y.shape, padding, plan.xk,
        len(plan.xk) - 16, plan.xv, plan.strip, plan.columns, plan.reach, plan.channel, plan.out,
        scratch("strip", len(x) * plan.channel), scratch("delta", len(y) * plan.out),
    )  # fmt: skip


@lru_cache(512)
def flat_plan(x_shape, w_shape, y_shape, dilation, turned):
    """For y = w * x (turned: dx from dy, filters rotated, input and output channels exchanged)."""
    (C, _, _, N), (M, HO, WO, _), (_, own, KH, KW) = x_shape, y_shape, w_shape
    DH, DW = dilation
    columns, reach = WO + (KW - 1) * DW, (KH - 1) * DH
    row = columns * N
    strip = max(1, min(HO, STRIP_BYTES // (4 * row * (C + M)) - reach))
    channel = odd_lines((strip + reach) * row + (KW - 1) * DW * N + 32)
    taps = [(h, c, k) for h in range(KH) for c in range(C) for k in range(KW)]
    if turned:
        wk = table((c * own * KH + KH - 1 - h) * KW + KW - 1 - k for h, c, k in taps)
    else:
        wk = table((c * KH + h) * KW + k for h, c, k in taps)
    return FlatPlan(
        strip=strip,
        columns=columns,
        reach=reach,
        channel=channel,
        out=odd_lines(strip * row + 32),
        xk=table(c * channel + (h * DH * columns + k * DW) * N for h, c, k in taps),
        wk=wk,
        ws=KH * KW if turned else own * KH * KW,
        xv=vectors(strip * row),
    )


@lru_cache(512)
def by_channel(x_shape, w_shape, y_shape, dilation):
    """The taps' places in scratch, in the order of the weights."""
    plan = flat_plan(x_shape, w_shape, y_shape, dilation, False)
    (DH, DW), N, (_, C, KH, KW) = dilation, x_shape[3], w_shape
    return table(c * plan.channel + (h * DH * plan.columns + k * DW) * N for c in range(C) for h in range(KH) for k in range(KW))


@kernel
def load_rows(x, C, H, W, N, row0, rows, col0, columns, s, channel):
    """s[c][i, j, n] = x[c, row0 + i, col0 + j, n], zero outside the image and behind the last row."""
    j0 = min(max(0, -col0), columns)
    j1 = max(j0, min(columns, W - col0))
    for c in range(C):
        s[c * channel + rows * columns * N : (c + 1) * channel] = 0
        for i in range(rows):
            h, q = row0 + i, c * channel + i * columns * N
            if h < 0 or h >= H:
                s[q : q + columns * N] = 0
                continue
            s[q : q + j0 * N] = 0
            p = ((c * H + h) * W + col0 + j0) * N
            for n in range((j1 - j0) * N):
                s[q + j0 * N + n] = x[p + n]
            s[q + j1 * N : q + columns * N] = 0


@cache
def product_kernel(tile_rows, tile_columns):
    """The kernel of one tile: R output channels x V vectors along the rows."""
    R, V = tile_rows, tile_columns

    @kernel
    def flat(
        x, x_shape, w, wk, ws, start, floor, adds, y, y_shape, padding, xk, K, xv, strip, columns, reach, channel, out, s, o
    ):  # fmt: skip
        (C, H, W, N), (M, HO, WO, _) = x_shape, y_shape
        for r0 in range(0, HO, strip):
            rows = min(strip, HO - r0)
            load_rows(x, C, H, W, N, r0 - padding[0], rows + reach, -padding[1], columns, s, channel)
            count = (rows * columns * N + 15) // 16
            for v in range(0, count, V):
                for m in range(0, M, R):
                    i = min(m, M - R)
                    product_tile(
                        R, V, w, i * ws, ws, wk, s, 0, xk, 0, K, xv, xv, v, count, 0,
                        o, i * out, out, 16, m - i, start, i, floor, False,
                    )  # fmt: skip
            for m in range(M):
                for i in range(rows):
                    p, q = ((m * HO + r0 + i) * WO) * N, m * out + i * columns * N
                    if adds:
                        for n in range(WO * N):
                            y[p + n] += o[q + n]
                    else:
                        for n in range(WO * N):
                            y[p + n] = o[q + n]

    return flat


@cache
def gradient_kernel(tile_rows, tile_taps):
    """The kernel of one tile: R output channels x K taps, each the sum along the rows; dy is zero on the border."""
    R, T = tile_rows, tile_taps

    @kernel
    def flat_gradient(x, x_shape, d, d_shape, g, padding, xk, taps, xv, strip, columns, reach, channel, out, s, e, sums):
        (C, H, W, N), (M, HO, WO, _) = x_shape, d_shape
        for r0 in range(0, HO, strip):
            rows = min(strip, HO - r0)
            load_rows(x, C, H, W, N, r0 - padding[0], rows + reach, -padding[1], columns, s, channel)
            load_rows(d, M, HO, WO, N, r0, rows, 0, columns, e, out)
            count = (rows * columns * N + 15) // 16
            for m in range(0, M, R):
                i0 = min(m, M - R)
                for k in range(0, taps, T):
                    k0 = min(k, taps - T)
                    gradient_tile(R, T, e, i0 * out, out, s, 0, xk, k0, xv, xv, count, 1, 0, 0, sums)
                    for i in range(m - i0, R):
                        for q in range(k - k0, T):
                            g[(i0 + i) * taps + k0 + q] += sums[i * T + q]

    return flat_gradient
