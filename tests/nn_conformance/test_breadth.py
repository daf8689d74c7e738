"""Drawn shapes: every number of images up to two vectors and one, every remainder of a tile, strides, dilations, H other than W.

Each is compared with loops as one would write them on a blackboard, in float64.
"""

import itertools

import numpy as np
import pytest

from dtnn import nn
from dtnn.nn import Parameters, Pass
from tests.nn.checks import agree
from tests.nn_conformance.test_conformance import CASES, uses_the_batch

pytestmark = [pytest.mark.slow, pytest.mark.limit(300)]  # compiles nearly every kernel there is

COUNTS = range(1, 34)
CONVOLUTIONS = {
    "auto": {},
    "direct": {"algorithm": "direct"},
    "im2col": {"algorithm": "im2col"},
    "winograd": {"algorithm": "winograd"},
    "grouped": {},
    "depthwise": {},
}


def loops(x, w, bias, dy, stride, padding, dilation, groups):
    """(y, dx, dw, dbias) of a convolution: pixel by pixel, tap by tap, group by group; filters, channels and images at once."""
    y, (M, inner, kh, kw) = np.zeros(dy.shape) + bias[:, None, None, None], w.shape
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for i, j, a, b, g in np.ndindex(*dy.shape[1:3], kh, kw, groups):
        row, column = i * stride[0] + a * dilation[0] - padding[0], j * stride[1] + b * dilation[1] - padding[1]
        if 0 <= row < x.shape[1] and 0 <= column < x.shape[2]:
            m, c = (slice(g * n, (g + 1) * n) for n in (M // groups, inner))
            y[m, i, j] += w[m, :, a, b] @ x[c, row, column]
            dx[c, row, column] += w[m, :, a, b].T @ dy[m, i, j]
            dw[m, :, a, b] += dy[m, i, j] @ x[c, row, column].T
    return y, dx, dw, dy.sum((1, 2, 3))


def drawn(kind, count):
    """(layer, shape, geometry) for a number of images; filters go through all remainders of a tile."""
    rng = np.random.default_rng([len(kind), ord(kind[0]), count])
    kernel, stride, dilation, padding = (
        tuple(int(v) for v in rng.integers(a, b, 2)) for a, b in ((1, 5), (1, 4), (1, 3), (0, 3))
    )
    if kind == "winograd":
        kernel, stride, dilation = (3, 3), (1, 1), (1, 1)
    groups, inner, outer = 1, int(rng.integers(1, 6)), 1 + count % 16
    if kind == "grouped":
        groups = int(rng.integers(2, 4))
        inner, outer = 2 * groups, groups * (1 + count % 5)
    if kind == "depthwise":
        groups = inner = int(rng.integers(2, 6))
        outer = inner * (1 + count % 2)
    least = [max(1, (k - 1) * d + 1 - 2 * p) for k, d, p in zip(kernel, dilation, padding)]
    height, width = (int(n + rng.integers(0, 5)) for n in least)
    width += height == width
    geometry = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
    return nn.Conv2d(outer, kernel, **geometry, **CONVOLUTIONS[kind]), (inner, height, width), geometry


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_convolutions_are_their_loops(kind):
    for count in COUNTS:
        relu = count % 3 == 0
        layer, shape, geometry = drawn(kind, count)
        rng = np.random.default_rng(count)
        out = layer.build(shape, rng)
        Parameters(layer, np.float32)
        layer.bias.value[...] = rng.standard_normal(out[0])
        x, dy = (rng.standard_normal((*s, count)).astype(np.float32) for s in (shape, out))
        y, backward = layer.forward(x.copy(), Pass(), relu=relu)
        y = y.copy()
        masked = np.where(y > 0, dy, 0) if relu else dy
        exact = [a.astype(np.float64) for a in (x, layer.weight.value, layer.bias.value, masked)]
        expected = list(loops(*exact, **geometry))
        expected[0] = np.maximum(expected[0], 0) if relu else expected[0]
        found = y, backward(dy.copy()), layer.weight.grad, layer.bias.grad
        for name, a, b in zip(("y", "dx", "dw", "dbias"), found, expected):
            assert a.shape == b.shape
            assert np.abs(a - b).max() <= 2e-5 * max(1, np.abs(b).max()), (name, count, layer, shape)


def test_all_that_was_asked_for_was_drawn():
    layers = [(*drawn(kind, count), count) for kind in CONVOLUTIONS for count in COUNTS]
    assert {count for *_, count in layers} == set(range(1, 34))
    assert {layer.channels for layer, *_ in layers} >= set(range(1, 17))
    assert all(shape[1] != shape[2] for _, shape, *_ in layers)
    assert {shape[1] < shape[2] for _, shape, *_ in layers} == {True, False}
    for name, values in (("stride", (1, 2, 3)), ("dilation", (1, 2)), ("padding", (0, 1, 2))):
        assert {geometry[name] for _, _, geometry, _ in layers} >= set(itertools.product(values, values)), name
    assert {layer.kernel_size for layer, *_ in layers} >= set(itertools.product(range(1, 5), range(1, 5)))


@pytest.mark.parametrize("bias", [False, True])
def test_dense_layers_are_products(bias):
    for count in COUNTS:
        rng = np.random.default_rng(count)
        outer, inner = count, int(rng.integers(1, 40))
        layer = nn.Linear(outer, bias=bias)
        layer.build((inner,), rng)
        Parameters(layer, np.float32)
        x, dy = (rng.standard_normal((n, count)).astype(np.float32) for n in (inner, outer))
        y, backward = layer.forward(x.copy(), Pass())
        w = layer.weight.value.astype(np.float64)
        for a, b in ((y.copy(), w @ x), (backward(dy.copy()), w.T @ dy), (layer.weight.grad, dy.astype(float) @ x.T)):
            assert np.abs(a - b).max() <= 2e-5 * max(1, np.abs(b).max()), (count, inner)
        if bias:
            np.testing.assert_allclose(layer.bias.grad, dy.sum(1), atol=1e-4)


def four_loops(x, dy, size, stride, padding, largest):
    """(y, dx) of a pooling whose windows may reach over the border; averages count the border as zeros."""
    y, dx = np.zeros(dy.shape), np.zeros(x.shape)
    for i, j in np.ndindex(dy.shape[1:3]):
        top, left = i * stride[0] - padding[0], j * stride[1] - padding[1]
        rows, columns = (slice(max(0, t), max(0, t + s)) for t, s in zip((top, left), size))
        for c, n in np.ndindex(x.shape[0], x.shape[3]):
            part = x[c, rows, columns, n]
            if largest:
                place = np.unravel_index(part.argmax(), part.shape)
                y[c, i, j, n] = part[place]
                dx[c, rows, columns, n][place] += dy[c, i, j, n]
            else:
                y[c, i, j, n] = part.sum() / (size[0] * size[1])
                dx[c, rows, columns, n] += dy[c, i, j, n] / (size[0] * size[1])
    return y, dx


@pytest.mark.parametrize("kind", ["MaxPool2d", "AvgPool2d"])
def test_pooling_is_its_loops(kind):
    for count in COUNTS:
        rng = np.random.default_rng(count)
        size, stride = (tuple(int(v) for v in rng.integers(1, 4, 2)) for _ in range(2))
        padding = tuple(int(rng.integers(0, k // 2 + 1)) for k in size)
        shape = (int(rng.integers(1, 4)), *(int(k + rng.integers(0, 5)) for k in size))
        layer = getattr(nn, kind)(size, stride, padding)
        out = layer.build(shape, rng)
        x, dy = (rng.standard_normal((*s, count)).astype(np.float32) for s in (shape, out))
        y, backward = layer.forward(x.copy(), Pass())
        found = y.copy(), backward(dy.copy())
        for a, b in zip(found, four_loops(x.astype(float), dy.astype(float), size, stride, padding, kind == "MaxPool2d")):
            assert np.abs(a - b).max() <= 1e-5 * max(1, np.abs(b).max()), (count, layer, shape)


@pytest.mark.parametrize(("call", "shape"), [case[:2] for case in CASES], ids=[f"{case[0]}-{case[1]}" for case in CASES])
def test_every_layer_at_every_number_of_samples(call, shape):
    """The fast path in float32 against the plain one in float64."""
    if call.startswith("Embedding") or call in ("Log()", "Arctanh()"):
        pytest.skip("takes no numbers below zero; see the conformance of any number of samples")
    for count in COUNTS:
        if count > 2 or not uses_the_batch(call):  # the variance of two numbers may be tiny
            agree(eval(call, vars(nn)), shape, count)


def test_the_check_sees_a_shift():
    layer, shape, geometry = drawn("direct", 7)
    dy = np.ones((*layer.build(shape, np.random.default_rng(0)), 7))
    numbers = np.random.default_rng(1).standard_normal((*shape, 7)), layer.weight.value, layer.bias.value, dy
    shifted = geometry | {"padding": tuple(p + 1 for p in geometry["padding"])}
    for right, wrong in zip(loops(*numbers, **geometry)[:3], loops(*numbers, **shifted)):
        assert np.abs(right - wrong).max() > 1e-3
