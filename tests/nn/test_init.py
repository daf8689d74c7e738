"""First weights: the right fans, the right spread."""

import numpy as np
import pytest

from dtnn import Model, load
from dtnn.nn import Constant, Conv2d, Flatten, Linear, init


@pytest.mark.parametrize("shape", [(300, 200), (64, 16, 3, 5)])
def test_variance(shape):
    fan_in, fan_out = shape[1] * int(np.prod(shape[2:])), shape[0] * int(np.prod(shape[2:]))
    assert init.fans(shape) == (fan_in, fan_out)
    rng = np.random.default_rng(0)
    for function, variance in (
        (init.he_normal, 2 / fan_in),
        (init.he_uniform, 2 / fan_in),
        (init.glorot_normal, 2 / (fan_in + fan_out)),
        (init.glorot_uniform, 2 / (fan_in + fan_out)),
        (init.lecun_normal, 1 / fan_in),
        (init.lecun_uniform, 1 / fan_in),
    ):
        weights = function(rng, shape)
        assert weights.shape == shape
        assert weights.dtype == np.float64
        assert weights.var() == pytest.approx(variance, rel=0.05)
        assert abs(weights.mean()) < 4 * np.sqrt(variance / weights.size)


def test_constants():
    assert not init.zeros(None, (2, 3)).any()
    assert (init.ones(None, (2, 3)) == 1).all()


@pytest.mark.parametrize("shape", [(20, 7), (7, 20), (6, 3, 2, 2)])
def test_orthogonal(shape):
    w = init.orthogonal(np.random.default_rng(0), shape).reshape(shape[0], -1)
    small = w @ w.T if len(w) <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(small, np.eye(len(small)), atol=1e-12)
    assert w.shape == (shape[0], int(np.prod(shape[1:])))


@pytest.mark.parametrize("groups", [2, 64])
def test_variance_of_groups(groups):
    """Each group is a convolution of its own."""
    shape, field = (64 * 4, 64 // groups, 3, 3), 9
    fan_in, fan_out = 64 // groups * field, 64 * 4 // groups * field
    assert init.fans(shape, groups) == (fan_in, fan_out)
    for name, variance in (("he_normal", 2 / fan_in), ("glorot_uniform", 2 / (fan_in + fan_out)), ("lecun_uniform", 1 / fan_in)):
        layer = Conv2d(64 * 4, 3, groups=groups, init=name)
        layer.build((64, 5, 5), np.random.default_rng(0))
        assert layer.weight.value.var() == pytest.approx(variance, rel=0.06)


def test_variance_of_a_depthwise_convolution():
    layer = Conv2d(64, 3, groups=64, init="glorot_uniform")
    layer.build((64, 5, 5), np.random.default_rng(0))
    assert layer.weight.value.var() == pytest.approx(2 / (9 + 9), rel=0.1)


def test_groups_are_orthogonal_each():
    w = init.orthogonal(np.random.default_rng(0), (6, 2, 2, 2), groups=2).reshape(2, 3, 8)
    np.testing.assert_allclose(w @ w.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (2, 3, 3)), atol=1e-12)


def test_a_constant_and_the_bias(tmp_path):
    layers = Conv2d(4, 3, init=Constant(0.25), bias_init="ones"), Flatten(), Linear(2, bias_init=Constant(-4.6))
    model = Model(*layers, input_shape=(5, 5, 1))
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").to_code() == model.to_code()
    assert "from dtnn.nn import Constant, Conv2d, Flatten, Linear" in model.to_code()
    for found in (model, load(tmp_path / "model"), eval_code(model.to_code())):
        assert (found.layers[0].weight.value == 0.25).all()
        assert (found.layers[0].bias.value == 1).all()
        np.testing.assert_array_equal(found.layers[2].bias.value, np.float32(-4.6))
        assert not found.layers[2].bias.decay
    assert Linear(3, bias=False, bias_init="ones").build((2,), np.random.default_rng(0)) == (3,)


def eval_code(text):
    names = {}
    exec(text, names)
    return names["model"]
