"""Linear: formula, gradients, shapes, errors."""

import numpy as np
import pytest

from dtnn.nn import Linear, Parameters, Pass
from tests.nn.checks import agree, build, check_gradients


def test_formula():
    layer, out = build(Linear(3), (2,))
    layer.weight.value[...] = [[1, 2], [3, 4], [5, 6]]
    layer.bias.value[...] = [10, 20, 30]
    assert out == (3,)
    np.testing.assert_array_equal(layer(np.array([[1.0], [1.0]])), [[13], [27], [41]])


@pytest.mark.parametrize("options", [{}, {"relu": True}])
@pytest.mark.parametrize("bias", [True, False])
def test_gradients(options, bias):
    check_gradients(Linear(7, bias=bias), (5,), 4, **options)


@pytest.mark.parametrize("count", [1, 15, 16, 17, 33, 64])
def test_float32_agrees(count):
    agree(Linear(20), (37,), count, relu=count % 2 == 0)


def test_adds_to_gradients_and_into():
    layer, _ = build(Linear(3), (4,))
    x, dy = np.ones((4, 2)), np.ones((3, 2))
    layer.forward(x)[1](dy.copy())
    once = layer.weight.grad.copy()
    into = np.full((4, 2), 100.0)
    dx = layer.forward(x)[1](dy.copy(), into=into)
    np.testing.assert_allclose(layer.weight.grad, 2 * once)
    assert dx is into
    np.testing.assert_allclose(into, 100 + layer.weight.value.T @ dy)


def test_no_gradient_for_the_models_input():
    layer, _ = build(Linear(3), (4,), np.float32)
    x, step = np.ones((4, 2), np.float32), Pass()
    step.begin(0, 0, 2, 2, x=x)
    assert layer.forward(x, step)[1](np.ones((3, 2), np.float32)) is None
    assert layer.weight.grad.any()


def test_an_array_without_slack_or_of_another_layout_is_copied():
    layer, _ = build(Linear(3), (5,), np.float32)
    x = np.random.default_rng(0).standard_normal((7, 5)).astype(np.float32)
    expected = layer.weight.value @ x.T
    for form in (x.T, np.ascontiguousarray(x.T), x.T.astype(float), np.asfortranarray(x.T)):
        y = layer(form)
        assert y.dtype == np.float32
        np.testing.assert_allclose(y, expected, atol=1e-6)


def test_frozen_weights_get_no_gradient():
    layer = Linear(3)
    layer.build((4,), np.random.default_rng(0))
    layer.trainable = False
    parameters = Parameters(layer)
    x = np.ones((4, 2), np.float32)
    dx = layer.forward(x)[1](np.ones((3, 2), np.float32))
    assert not parameters.grad.any()
    np.testing.assert_allclose(dx, layer.weight.value.sum(0)[:, None] * np.ones((1, 2)), rtol=1e-6)


def test_errors_name_value_layer_and_remedy():
    with pytest.raises(ValueError, match=r"Linear: features is 0; it must be at least 1"):
        Linear(0)
    with pytest.raises(TypeError, match=r"Linear: features is 2\.5; it must be an integer"):
        Linear(2.5)
    with pytest.raises(
        ValueError,
        match=r"Linear\(3\) takes samples of shape \(D,\) or \(D, T\), but gets \(1, 28, 28\); put Flatten\(\) before it",
    ):
        Linear(3).build((1, 28, 28), np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"no initialiser 'he_nrmal'; did you mean 'he_normal'"):
        Linear(3, init="he_nrmal")
    layer, _ = build(Linear(3), (4,))
    with pytest.raises(ValueError, match=r"Linear\(3\) was built for samples of shape \(4,\).*got \(5, 2\)"):
        layer(np.ones((5, 2)))


def test_repr_is_the_call():
    assert repr(Linear(10)) == "Linear(10)"
    assert repr(Linear(10, bias=False, init="glorot_normal")) == "Linear(10, bias=False, init='glorot_normal')"
    layer, _ = build(Linear(10, bias=False), (3,))
    assert repr(layer) == "Linear(10, bias=False)"
