"""The filter gradient of a direct convolution: `conv_direct.filter_gradient`, its plan and its kernel.

A strip of x, with its zero border, and the same rows of dy lie in scratch; each tile sums R filters x K taps over all pixels and
images of the strip, and the sums of the strips are added up.
"""

from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from . import conv_channels, conv_flat
from .cache import kernel
from .conv_plan import USUAL_GRADIENT, Strip, fit_strip
from .gradient_tile import gradient_tile
from .parts import add_partial_sums, partial_sums, parts_for, run
from .scratch import scratch
from .strips import load_delta_strip, load_strip
from .tile_sizes import choose_tile, odd_lines, table

USUAL_OF_FEW, FEW = ((4, 5), (2, 9)), 4  # those of the filter gradient of so few filters: 9 taps or 36 fill the second


class GradientPlan(NamedTuple):
    """How x and dy lie in scratch, and the tables of offsets that steer the tile."""

    strip: Strip
    tile: tuple
    xk: np.ndarray
    xv: np.ndarray
    dv: np.ndarray
    dc: int  # distance of the channels of dy in its scratch
    dn: int


def filter_gradient(x, dy, y, dw, dbias, window, back=True):
    """Add the gradients of the weights and of the bias to dw and dbias.

    Parameters
    ----------
    x : ndarray of float32, (C, H, W, N)
    dy : ndarray, (M, HO, WO, N)
    y : ndarray, (M, HO, WO, N), or None
        The output, if a ReLU followed: dy counts only where y > 0.
    dw : ndarray, (M, C, KH, KW)
    dbias : ndarray, (M,), or None
    window : Window
    back : bool
        Write the masked dy back, because the data gradient needs it.
    """
    if conv_channels.suits(x):
        conv_channels.filter_gradient(x, dy, y, dw, dbias, window, back)
        return
    if conv_flat.suits(x.shape, window):
        conv_flat.filter_gradient(x, dy, y, dw, dbias, window, back)
        return
    parts, taps = parts_for(dw.size * dy[0].size), dw[0].size
    plan = gradient_plan(x.shape, dw.shape, dy.shape, window, parts)
    bias, rest = scratch("bias", len(dy))[: len(dy)] if dbias is None else dbias, partial_sums(parts, dw.size + len(dy))
    run(
        gradient_kernel(*plan.tile), parts,
        x.reshape(-1), x.shape, dy.reshape(-1), (dy if y is None else y).reshape(-1), y is not None, back, dy.shape,
        dw.reshape(-1), bias, rest, plan.xk, taps, plan.dv, plan.xv, window.stride[0], window.padding[0], window.padding[1],
        plan.strip, scratch("strip", parts * plan.strip.size), scratch("delta", parts * plan.strip.blocks * plan.dn), plan.dc,
        plan.dn, scratch("out", parts * 64),
    )  # fmt: skip
    add_partial_sums(parts, rest, dw.reshape(-1), bias)


@lru_cache(512)
def gradient_plan(x_shape, w_shape, y_shape, window, parts=1):
    """dw sums x times dy over all places; the taps are the columns of the tile."""
    (C, _, _, N), (M, _, KH, KW), (_, HO, WO, _) = x_shape, w_shape, y_shape
    (SH, SW), _, (DH, DW) = window
    columns = (WO - 1) * SW + (KW - 1) * DW + 1
    s = fit_strip(C, N, parts, lambda r: (r - 1) * SH + (KH - 1) * DH + 1, columns, HO, more=M * WO)
    places = [(i, j) for i in range(s.strip) for j in range(WO)]
    dc = odd_lines(s.strip * WO * 16)
    return GradientPlan(
        strip=s,
        tile=choose_tile(M, C * KH * KW, USUAL_OF_FEW if M <= FEW else USUAL_GRADIENT, gradient=True),
        xk=table(c * s.sc + (h * DH * columns + k * DW) * 16 for c in range(C) for h in range(KH) for k in range(KW)),
        xv=table((i * SH * columns + j * SW) * 16 for i, j in places),
        dv=table((i * WO + j) * 16 for i, j in places),
        dc=dc,
        dn=M * dc,
    )


@cache
def gradient_kernel(tile_rows, tile_taps):
    """The kernel of one tile: R output channels x K taps, each the sum over pixels and images."""
    R, K = tile_rows, tile_taps

    @kernel
    def gradient(
        part, parts, x, x_shape, d, y, masked, back, y_shape, g, bias, rest, xk, taps, dv, xv, step, pad_h, pad_w, layout, s, e,
        ec, en, out
    ):  # fmt: skip
        (C, H, W, N), (M, HO, WO, _) = x_shape, y_shape
        strip, blocks, rows_in, columns, sc, sn = layout
        s, e, out = s[part * blocks * sn :], e[part * blocks * en :], out[part * 64 :]
        if part > 0:
            rest = rest[(part - 1) * M * (taps + 1) : part * M * (taps + 1)]
            rest[:] = 0
            g, bias = rest[: M * taps], rest[M * taps :]
        groups = (N + 16 * blocks - 1) // (16 * blocks)
        units = (HO + strip - 1) // strip * groups
        for unit in range(units * part // parts, units * (part + 1) // parts):
            r0, n0 = unit // groups * strip, unit % groups * 16 * blocks
            some = min(blocks, (N - n0 + 15) // 16)
            rows = min(strip, HO - r0)
            load_strip(x, C, H, W, N, n0, some, r0 * step - pad_h, rows_in, -pad_w, columns, s, sc, sn)
            load_delta_strip(d, y, M, HO, WO, N, n0, some, r0, rows, e, ec, en, masked, back, bias)
            for m in range(0, M, R):
                i0 = min(m, M - R)
                for k in range(0, taps, K):
                    k0 = min(k, taps - K)
                    gradient_tile(R, K, e, i0 * ec, ec, s, 0, xk, k0, dv, xv, rows * WO, some, en, sn, out)
                    for i in range(m - i0, R):
                        for q in range(k - k0, K):
                            g[(i0 + i) * taps + k0 + q] += out[i * K + q]

    return gradient
