"""Direct convolution on batch-last arrays: forward, data gradient (any stride, no zero dilation), filter gradient.

A strip of image rows of up to 4 x 16 images is copied, with its zero border, into scratch that stays in cache
(`strips.py`); the register tiles then run on it, steered by tables of offsets (`conv_plan.py`).  The vector lanes are
images, so one channel is as good as 64, and the weights stay as they are, also for the gradients.

Source: the register tile over images is in the spirit of Georganas et al., "Anatomy of high-performance deep learning
convolutions on SIMD architectures", 2018 (there: over channels).
"""

from functools import cache

import numpy as np

from . import conv_flat, conv_pixels, conv_plan_plain, dense
from .cache import kernel
from .conv_plan import data_gradient_plan, forward_plan
from .direct_gradient import filter_gradient  # noqa: F401  the third of the algorithm's functions
from .parts import parts_for, run
from .product_tile import product_tile
from .scratch import scratch
from .strips import load_strip

NO_FLOOR = np.float32(-np.inf)


def forward(x, w, bias, y, window, relu=False):
    """y[m, i, j, n] = bias[m] + sum over c, h, k of w[m, c, h, k] x[c, i SH - PH + h DH, j SW - PW + k DW, n].

    Parameters
    ----------
    x : ndarray of float32, (C, H, W, N)
    w : ndarray, (M, C, KH, KW)
    bias : ndarray, (M,), or None
    y : ndarray, (M, HO, WO, N)
        Written.
    window : Window
    relu : bool
        y = max(0, y), for nothing; a NaN stays.

    Notes
    -----
    2 M C KH KW HO WO N floating-point operations; all arrays C-contiguous.
    """
    if is_product(x.shape, w.shape, window):
        dense.forward(x.reshape(len(x), -1), w.reshape(len(w), -1), bias, y.reshape(len(y), -1), relu)
        return
    if conv_pixels.suits(x.shape, w.shape, y.shape):
        conv_pixels.forward(x, w, bias, y, window, relu)
        return
    if conv_flat.suits(x.shape, window):
        conv_flat.forward(x, w, bias, y, window, relu)
        return
    parts = parts_for(w.size * y[0].size)
    shapes = x.shape, w.shape, y.shape, window
    plain = conv_plan_plain.suits(x.shape, window, parts)
    plan = conv_plan_plain.forward_plan(*shapes) if plain else forward_plan(*shapes, parts)
    start = scratch("zeros", len(w)) if bias is None else bias
    run_product(parts, plan, x, w, start, np.float32(0) if relu else NO_FLOOR, False, y)


def data_gradient(dy, w, dx, window, adds=False):
    """dx (C, H, W, N) from dy (M, HO, WO, N) and w (M, C, KH, KW); with `adds` it is added to what dx holds."""
    if is_product(dx.shape, w.shape, window):
        dense.data_gradient(dy.reshape(len(dy), -1), w.reshape(len(w), -1), dx.reshape(len(dx), -1), adds)
        return
    if conv_pixels.suits(dx.shape, w.shape, dy.shape):
        conv_pixels.data_gradient(dy, w, dx, window, adds)
        return
    if conv_flat.suits(dx.shape, window):
        conv_flat.data_gradient(dy, w, dx, window, adds)
        return
    parts = parts_for(w.size * dy[0].size)
    shapes = dx.shape, w.shape, dy.shape, window
    plain = conv_plan_plain.suits(dy.shape, window, parts)
    plan = conv_plan_plain.data_gradient_plan(*shapes) if plain else data_gradient_plan(*shapes, parts)
    run_product(parts, plan, dy, w, scratch("zeros", len(dx)), NO_FLOOR, adds, dx)


def is_product(x_shape, w_shape, window):
    """Whether the convolution is one matrix product of the plain arrays: 1 x 1, no stride, no border, full vectors."""
    one = tuple(w_shape[2:]) == window.stride == (1, 1) and window.padding == (0, 0)
    return one and x_shape[1] * x_shape[2] * x_shape[3] % 16 == 0


def run_product(parts, plan, x, w, start, floor, adds, y):
    """Call the kernel of the plan's tile."""
    run(
        product_kernel(*plan.tile), parts,
        x.reshape(-1), x.shape, w.reshape(-1), plan.wk, plan.ws, start, floor, adds, y.reshape(-1), y.shape,
        plan.xk, plan.xv, plan.yv, plan.phases, plan.passes, plan.rows, plan.reach, plan.moves, plan.strip,
        scratch("strip", parts * plan.strip.size),
    )  # fmt: skip


@kernel(inlined=True)
def taps_inside(reach, phase, top, bottom):
    """The range of taps that rows top .. bottom need: a kernel row outside of the image is left out."""
    k0, k1 = reach[phase, top, 0], reach[phase, top, 1]
    for row in range(top + 1, bottom + 1):
        k0, k1 = min(k0, reach[phase, row, 0]), max(k1, reach[phase, row, 1])
    return k0, k1


@cache
def product_kernel(tile_rows, tile_columns):
    """The kernel of one tile: R output channels x V pixels x 16 images."""
    R, V = tile_rows, tile_columns

    @kernel
    def product(
        part, parts, x, x_shape, w, wk, ws, start, floor, adds, y, y_shape, xk, xv, yv, phases, passes, vr, reach, moves,
        layout, s
    ):  # fmt: skip
        (C, H, W, N), (M, HO, WO, _) = x_shape, y_shape
        in_step, out_step, lo_row, lo_col = moves
        strip, blocks, rows_in, columns, sc, sn = layout
        ys = HO * WO * N
        s, groups = s[part * blocks * sn :], (N + 16 * blocks - 1) // (16 * blocks)
        units, copied = (HO + strip - 1) // strip * groups, rows_in > 0
        u0, u1 = (units * part // parts, units * (part + 1) // parts) if copied else (0, units)  # else some pixels of each
        for unit in range(u0, u1):
            r0, n0 = unit // groups * strip, unit % groups * 16 * blocks
            some = min(blocks, (N - n0 + 15) // 16)
            load_strip(x, C, H, W, N, n0, some, r0 // out_step * in_step + lo_row, rows_in, lo_col, columns, s, sc, sn)
            for b in range(min(some, passes)):
                lanes = min(16, N - n0 - 16 * b)
                source, s0 = (s, b * sn) if rows_in > 0 else (x, n0 + 16 * b)
                y0 = r0 * WO * N + n0 + 16 * b
                for f in range(phases.shape[0]):
                    first, shift, width = phases[f, 0], phases[f, 1], phases[f, 2]
                    v0, v1 = first, first + (min(strip, HO - r0) - shift + out_step - 1) // out_step * width
                    if not copied:
                        count = (v1 - v0 + V - 1) // V
                        v0, v1 = v0 + count * part // parts * V, min(v1, v0 + count * (part + 1) // parts * V)
                    for v in range(v0, v1, V):
                        k0, k1 = taps_inside(reach, f, r0 + vr[v], r0 + vr[min(v + V, v1) - 1])
                        if adds and k0 >= k1:
                            continue
                        for m in range(0, M, R):
                            i = min(m, M - R)  # the last tile overlaps the one before
                            product_tile(
                                R, V, w, i * ws, ws, wk, source, s0, xk, k0, k1, xv, yv, v, v1, 0,
                                y, y0 + i * ys, ys, lanes, m - i, start, i, floor, adds,
                            )  # fmt: skip

    return product
