"""Depthwise convolution: each channel has filters of its own, so there is no sum over channels, and nothing to share.

The lanes are images, as everywhere.  The taps inside the image are summed in a register, straight from the plain array.

The same three functions as `conv_direct`, for all groups at once: x (C, H, W, N), w (M, 1, KH, KW), and output channel m sees
input channel m // (M / C).  Howard et al., "MobileNets", 2017.
"""

import numpy as np

from .activations import sum_delta
from .cache import kernel
from .parts import parts_for, run
from .scratch import scratch
from .vector import add, load_first, multiply, not_below, spread, store_first, total, zero

NO_FLOOR = np.float32(-np.inf)


def forward(x, w, bias, y, window, relu=False):
    """See `conv_direct.forward`; 2 M KH KW HO WO N floating-point operations."""
    start = scratch("zeros", len(w)) if bias is None else bias
    arguments = x.reshape(-1), x.shape, w.reshape(-1), w.shape, start, np.float32(0) if relu else NO_FLOOR, y.reshape(-1), y.shape
    run(depthwise, parts_for(w[0].size * y.size), *arguments, *window)


def data_gradient(dy, w, dx, window, adds=False):
    """See `conv_direct.data_gradient`."""
    arguments = dy.reshape(-1), dy.shape, w.reshape(-1), w.shape, dx.reshape(-1), dx.shape, adds
    run(depthwise_data, parts_for(w[0].size * dy.size), *arguments, *window)


def filter_gradient(x, dy, y, dw, dbias, window, back=True):
    """See `conv_direct.filter_gradient`."""
    sum_delta(dy, y, dbias)
    arguments = x.reshape(-1), x.shape, dy.reshape(-1), dy.shape, dw.reshape(-1), dw.shape
    run(depthwise_filters, parts_for(dw[0].size * dy.size), *arguments, *window)


@kernel
def inside(first, step, count, size):
    """The range of k in 0 .. count for which first + k step lies in 0 .. size."""
    return max(0, -(first // step)), min(count, (size - 1 - first) // step + 1)


@kernel
def depthwise(part, parts, x, x_shape, w, w_shape, bias, floor, y, y_shape, stride, padding, dilation):
    """y = floor at (bias + w * x), channel by channel."""
    (C, H, W, N), (M, HO, WO, _), (_, _, KH, KW) = x_shape, y_shape, w_shape
    for m in range(M * part // parts, M * (part + 1) // parts):
        c = m // (M // C)
        for i in range(HO):
            a = i * stride[0] - padding[0]
            h0, h1 = inside(a, dilation[0], KH, H)
            for j in range(WO):
                b = j * stride[1] - padding[1]
                k0, k1 = inside(b, dilation[1], KW, W)
                for n in range(0, N, 16):
                    lanes = min(16, N - n)
                    s = spread(bias[m])
                    for h in range(h0, h1):
                        q, t = ((c * H + a + h * dilation[0]) * W + b) * N + n, (m * KH + h) * KW
                        for k in range(k0, k1):
                            s = add(s, multiply(spread(w[t + k]), load_first(x, q + k * dilation[1] * N, lanes)))
                    store_first(y, ((m * HO + i) * WO + j) * N + n, not_below(s, floor), lanes)


@kernel
def depthwise_data(part, parts, d, y_shape, w, w_shape, dx, x_shape, adds, stride, padding, dilation):
    """Each number of dy goes back to the pixels it came from."""
    (C, H, W, N), (M, HO, WO, _), (_, _, KH, KW) = x_shape, y_shape, w_shape
    c0, c1 = C * part // parts, C * (part + 1) // parts
    if not adds:
        dx[c0 * H * W * N : c1 * H * W * N] = 0
    for m in range(c0 * (M // C), c1 * (M // C)):
        c = m // (M // C)
        for i in range(HO):
            a = i * stride[0] - padding[0]
            h0, h1 = inside(a, dilation[0], KH, H)
            for j in range(WO):
                b = j * stride[1] - padding[1]
                k0, k1 = inside(b, dilation[1], KW, W)
                for n in range(0, N, 16):
                    lanes = min(16, N - n)
                    v = load_first(d, ((m * HO + i) * WO + j) * N + n, lanes)
                    for h in range(h0, h1):
                        q, t = ((c * H + a + h * dilation[0]) * W + b) * N + n, (m * KH + h) * KW
                        for k in range(k0, k1):
                            p = q + k * dilation[1] * N
                            store_first(dx, p, add(load_first(dx, p, lanes), multiply(spread(w[t + k]), v)), lanes)


@kernel
def depthwise_filters(part, parts, x, x_shape, d, y_shape, g, w_shape, stride, padding, dilation):
    """Each weight's gradient: the sum of dy times the pixels that it saw."""
    (C, H, W, N), (M, HO, WO, _), (_, _, KH, KW) = x_shape, y_shape, w_shape
    for m in range(M * part // parts, M * (part + 1) // parts):
        c = m // (M // C)
        for h in range(KH):
            i0, i1 = inside(h * dilation[0] - padding[0], stride[0], HO, H)
            for k in range(KW):
                b = k * dilation[1] - padding[1]
                j0, j1 = inside(b, stride[1], WO, W)
                s = zero()
                for i in range(i0, i1):
                    a = i * stride[0] - padding[0] + h * dilation[0]
                    for j in range(j0, j1):
                        p, q = ((m * HO + i) * WO + j) * N, ((c * H + a) * W + b + j * stride[1]) * N
                        for n in range(0, N, 16):
                            lanes = min(16, N - n)
                            s = add(s, multiply(load_first(d, p + n, lanes), load_first(x, q + n, lanes)))
                g[(m * KH + h) * KW + k] += total(s)
