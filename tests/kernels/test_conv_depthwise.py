"""Depthwise convolution against the plain loops, channel by channel."""

import numpy as np
import pytest

from dtnn.kernels import conv_depthwise, conv_plain
from dtnn.kernels.conv_plan import Window
from dtnn.nn import Conv2d, Pass

SHAPES = [  # channels, filters a channel, (H, W), (KH, KW), batch, window
    (3, 1, (7, 9), (3, 3), 17, Window((1, 1), (1, 1))),
    (2, 2, (8, 6), (3, 2), 64, Window((2, 1), (1, 0))),
    (5, 1, (9, 9), (5, 5), 1, Window((3, 2), (2, 2))),
    (2, 3, (10, 8), (2, 3), 33, Window((1, 2), (3, 0), (2, 3))),
]


def plain(x, w, bias, dy, window, relu):
    """y, dx, dw, db in float64, one group after the other."""
    C, M = len(x), len(w)
    x, w, dy = x.astype(float), w.astype(float), dy.astype(float)
    y, dx, dw, db = np.empty(dy.shape), np.empty(x.shape), np.zeros(w.shape), np.zeros(M)
    for c in range(C):
        g, m = slice(c, c + 1), slice(c * M // C, (c + 1) * M // C)
        conv_plain.forward(x[g], w[m], bias[m].astype(float), y[m], window, relu)
        conv_plain.filter_gradient(x[g], dy[m], y[m] if relu else None, dw[m], db[m], window)
        conv_plain.data_gradient(dy[m], w[m], dx[g], window)
    return y, dx, dw, db


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_against_the_plain_loops(shape, relu):
    C, each, size, kernel, N, window = shape
    rng = np.random.default_rng(0)
    layer = Conv2d(C * each, kernel, stride=window.stride, padding=window.padding, dilation=window.dilation, groups=C)
    out = layer.build((C, *size), rng)
    x, w, bias, dy = (
        rng.standard_normal(s).astype(np.float32) for s in ((C, *size, N), (C * each, 1, *kernel), (C * each,), (*out, N))
    )
    expected = plain(x, w, bias, dy, window, relu)
    y, dx, dw, db = np.full_like(dy, np.nan), np.full_like(x, np.nan), np.zeros_like(w), np.zeros_like(bias)
    conv_depthwise.forward(x, w, bias, y, window, relu)
    conv_depthwise.filter_gradient(x, dy, y if relu else None, dw, db, window)
    conv_depthwise.data_gradient(dy, w, dx, window)
    for found, right in zip((y, dx, dw, db), expected):
        np.testing.assert_allclose(found, right, atol=2e-4)
    conv_depthwise.data_gradient(dy, w, dx, window, adds=True)
    np.testing.assert_allclose(dx, 2 * expected[1], atol=4e-4)


def test_the_layer_takes_it():
    rng, results = np.random.default_rng(0), []
    x, dy = rng.standard_normal((4, 6, 6, 20)).astype(np.float32), rng.standard_normal((8, 6, 6, 20)).astype(np.float32)
    for algorithm in ("auto", "direct", "im2col"):
        layer = Conv2d(8, 3, padding=1, groups=4, algorithm=algorithm)
        layer.build((4, 6, 6), np.random.default_rng(1))
        assert (layer._kernels(x) is conv_depthwise) == (algorithm == "auto")
        y, backward = layer.forward(x, Pass())
        results.append((y, backward(dy.copy()), layer.weight.grad, layer.bias.grad))
    for other in results[1:]:
        for a, b in zip(results[0], other):
            np.testing.assert_allclose(a, b, atol=1e-4)
