"""Activations: mathematics, gradients, extremes, NaN."""

import math

import numpy as np
import pytest

from dtnn.nn import ELU, GELU, Arctanh, LeakyReLU, Log, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Tanh
from tests.nn.checks import agree, check_gradients

erf = np.vectorize(math.erf)
FORMULAS = [
    (LeakyReLU(0.1), lambda x: np.where(x < 0, 0.1 * x, x)),
    (ELU(1.5), lambda x: np.where(x < 0, 1.5 * np.expm1(x), x)),
    (GELU(), lambda x: x * (1 + erf(x / np.sqrt(2))) / 2),
    (SiLU(), lambda x: x / (1 + np.exp(-x))),
    (Sigmoid(), lambda x: 1 / (1 + np.exp(-x))),
    (Tanh(), np.tanh),
    (Softmax(), lambda x: np.exp(x) / np.exp(x).sum(0)),
    (LogSoftmax(), lambda x: x - np.log(np.exp(x).sum(0))),
]


@pytest.mark.parametrize(("layer", "formula"), FORMULAS)
def test_formula_and_gradients(layer, formula):
    x = np.random.default_rng(0).standard_normal((5, 4, 33)) * 3
    np.testing.assert_allclose(layer(x), formula(x), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(layer(x.astype(np.float32)), formula(x.astype(np.float32).astype(float)), rtol=2e-6, atol=5e-7)
    assert layer(x.astype(np.float32)).dtype == np.float32
    check_gradients(layer, (5, 4), 3)
    agree(layer, (5, 4), 17)


@pytest.mark.parametrize(("layer", "formula", "low"), [(Arctanh(), np.arctanh, -0.9), (Log(), np.log, 0.1)])
def test_restricted_domains(layer, formula, low):
    x = np.random.default_rng(0).uniform(low, 0.9, (4, 9))
    np.testing.assert_allclose(layer(x), formula(x), rtol=1e-12)
    backward = layer.forward(x)[1]
    np.testing.assert_allclose(backward(np.ones_like(x)), (formula(x + 1e-6) - formula(x - 1e-6)) / 2e-6, rtol=1e-6)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(layer(np.array([[-2.0]])), [[np.nan]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes_do_not_overflow(dtype):
    x = np.array([[-1e30, -200, -100, 0, 100, 200, 1e30]], dtype)
    with np.errstate(all="ignore"):
        assert np.isfinite(Sigmoid()(x)).all()
        np.testing.assert_array_equal(Tanh()(x)[0, [0, 3, 6]], [-1, 0, 1])
        assert np.isfinite(ELU()(x)).all()
        assert np.isfinite(GELU()(x)).all()
    pair = np.stack([x[0], -x[0]])
    assert np.isfinite(Softmax()(pair)).all()
    np.testing.assert_allclose(Softmax()(pair).sum(0), 1, rtol=1e-6)


@pytest.mark.parametrize("layer", [ReLU(), *(layer for layer, _ in FORMULAS)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_stays(layer, dtype):
    x = np.zeros((3, 20), dtype)
    x[1, 7] = np.nan
    y = layer(x)
    assert np.isnan(y[1, 7])
    assert np.isfinite(np.delete(y, 7, 1)).all()


def test_float32_exponential_is_accurate_everywhere():
    x = np.linspace(-90, 88, 100_001, dtype=np.float32)[None]
    y = LogSoftmax()(np.concatenate([x, np.zeros_like(x)]))[1]  # log(1 / (1 + e^x))
    np.testing.assert_allclose(y, -np.logaddexp(0, x[0].astype(float)), rtol=1e-6, atol=1e-7)
    s = Sigmoid()(x)[0]
    np.testing.assert_allclose(s, 1 / (1 + np.exp(-x[0].astype(float))), rtol=1e-6, atol=1e-38)
    t = np.linspace(-2, 2, 100_001, dtype=np.float32)[None]
    np.testing.assert_allclose(Tanh()(t), np.tanh(t.astype(float)), rtol=1e-6)
