"""Residual and Concatenate: the formula, gradients, fusion, errors."""

import numpy as np
import pytest

from dtnn.nn import (
    BatchNorm2d,
    Concatenate,
    Conv2d,
    Dropout,
    Flatten,
    GlobalAvgPool2d,
    Layer,
    Linear,
    Parameters,
    Pass,
    ReLU,
    Residual,
    Sequential,
    cross_entropy,
)
from tests.nn.checks import agree, build, check_gradients


def block(channels=3, shortcut=None, stride=1):
    body = Sequential(
        Conv2d(channels, 3, stride=stride, padding=1), BatchNorm2d(), ReLU(), Conv2d(channels, 3, padding=1), BatchNorm2d()
    )
    return Residual(body, shortcut)


def projection(channels, stride):
    return Sequential(Conv2d(channels, 1, stride=stride), BatchNorm2d())


class Shift(Layer):
    def forward(self, x):
        return x + 1, lambda dy: dy


KINDS = [
    lambda: block(),
    lambda: block(4, projection(4, 2), 2),
    lambda: Residual(Sequential(BatchNorm2d(), ReLU(), Conv2d(3, 3, padding=1))),  # pre-activation: ends with a convolution
    lambda: Residual(Sequential(Conv2d(3, 1), ReLU())),
    lambda: Residual(Sequential()),
    lambda: Residual(BatchNorm2d()),
    lambda: Residual(block()),
    lambda: Residual(Shift(), Conv2d(3, 1)),
    lambda: Concatenate(Sequential(), Conv2d(2, 3, padding=1), Sequential(Conv2d(2, 1), ReLU())),
    lambda: Concatenate(Concatenate(Conv2d(2, 1), Sequential()), block()),
    lambda: Residual(Conv2d(3, 3, padding=1)),
    lambda: Residual(Sequential(Sequential(Conv2d(3, 3, padding=1)))),
]


def test_a_residual_of_one_layer_on_what_does_not_fit_the_scratch():
    """Its data gradient must not be added to the array that it still reads; small images hide that."""
    agree(Residual(Conv2d(16, 3, padding=1)), (16, 40, 40), 20)
    agree(Residual(Linear(64)), (64,), 70)


@pytest.mark.parametrize("make", KINDS)
def test_gradients(make):
    check_gradients(make(), (3, 4, 6), 3)
    if isinstance(make(), Residual):
        check_gradients(make(), (3, 4, 6), 3, relu=True)


@pytest.mark.parametrize("make", KINDS[:6] + KINDS[8:])
def test_float32_agrees(make):
    agree(make(), (3, 4, 6), 18)


def test_backward_adds_into():
    for make in KINDS:
        layer, out = build(make(), (3, 4, 6))
        rng = np.random.default_rng(0)
        x, dy, into = rng.standard_normal((3, 4, 6, 2)), rng.standard_normal((*out, 2)), rng.standard_normal((3, 4, 6, 2))
        expected = into + layer.forward(x)[1](dy.copy())
        assert layer.forward(x)[1](dy.copy(), into=into) is into
        np.testing.assert_allclose(into, expected, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fused_and_unfused_give_the_same_numbers(dtype):
    def net():
        made = Sequential(
            Conv2d(3, 3, padding=1), BatchNorm2d(), ReLU(), block(), ReLU(), block(4, projection(4, 2), 2), ReLU(),
            GlobalAvgPool2d(), Linear(5),
        )  # fmt: skip
        made.build((2, 6, 6), np.random.default_rng(0))
        return made, Parameters(made, dtype)

    def step(made, parameters):
        x = np.random.default_rng(1).standard_normal((2, 6, 6, 20)).astype(dtype)
        y, backward = made.forward(x, Pass())
        loss, d = cross_entropy(y, np.arange(20) % 5)
        backward(d)
        return loss, parameters.grad

    fused, apart = net(), net()
    assert [options for _, options in fused[0]._plan] == [{}, {"relu": True}, {"relu": True}, {"relu": True}, {}, {}]
    apart[0]._plan = [(layer, {}) for layer in apart[0].layers]
    for layer in apart[0].layers:
        if isinstance(layer, Residual):
            layer.body._plan = [(inner, {}) for inner in layer.body.layers]
            layer.body.takes = lambda option: False
    (loss, grad), (loss2, grad2) = step(*fused), step(*apart)
    assert loss == pytest.approx(loss2, rel=1e-12 if dtype == np.float64 else 1e-6)
    np.testing.assert_allclose(grad, grad2, atol=(1e-12 if dtype == np.float64 else 1e-5) * np.abs(grad).max(), rtol=0)


def test_first_in_the_network():
    for layer in (block(), block(4, projection(4, 2), 2), Concatenate(Conv2d(2, 1), Conv2d(3, 1))):
        net = Sequential(layer, Flatten(), Linear(3))
        net.build((3, 4, 4), np.random.default_rng(0))
        p = Parameters(net)
        x, step = np.random.default_rng(1).standard_normal((3, 4, 4, 5)).astype(np.float32), Pass()
        step.begin(0, 0, 5, 5, x=x)
        y, backward = net.forward(x, step)
        assert backward(cross_entropy(y, np.arange(5) % 3)[1]) is None
        assert all(p.grad[s.start : s.start + s.size].any() for s in p.segments if s.name.endswith("weight"))


def test_dropout_inside_is_off_in_inference():
    net = Sequential(Residual(Dropout(0.5)))
    net.build((3, 4, 4), None)
    x = np.ones((3, 4, 4, 2), np.float32)
    assert (net(x) == 2).all()


def test_names():
    net = Sequential(Conv2d(3, 1), block(4, projection(4, 2), 2))
    net.build((3, 4, 4), np.random.default_rng(0))
    names = [s.name for s in Parameters(net).segments]
    assert names[:3] == ["conv2d_1.weight", "conv2d_1.bias", "residual_1.body.conv2d_2.weight"]
    assert "residual_1.shortcut.batchnorm2d_3.bias" in names


def test_errors():
    rng = np.random.default_rng(0)
    with pytest.raises(
        ValueError, match=r"body gives \(4, 2, 2\) for \(3, 4, 4\), but the input, .* \(3, 4, 4\); .* give a shortcut"
    ):
        block(4, None, 2).build((3, 4, 4), rng)
    with pytest.raises(ValueError, match=r"body gives \(4, 2, 2\) .* but the shortcut has shape \(5, 2, 2\)"):
        block(4, projection(5, 2), 2).build((3, 4, 4), rng)
    with pytest.raises(
        ValueError, match=r"branches give \(3, 4, 4\), \(2, 2, 2\) for \(3, 4, 4\); they must be equal but for the channels"
    ):
        Concatenate(Sequential(), Conv2d(2, 3)).build((3, 4, 4), rng)
    with pytest.raises(ValueError, match="Concatenate needs a branch"):
        Concatenate()


def test_repr_makes_it_again():
    for make in KINDS[:7] + KINDS[8:]:
        assert repr(eval(repr(make()))) == repr(make())
