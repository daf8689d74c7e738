"""The fused updates against the textbook's formulas, written out in NumPy."""

import numpy as np
import pytest

from dtnn.kernels import updates

FLOATS = [np.float32, np.float64]


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-5 if a.dtype == np.float32 else 1e-12, atol=1e-7)


def vectors(dtype, size=37, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(size).astype(dtype) for _ in range(2)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_sgd_is_the_formula(dtype, nesterov, masked):
    value, grad = vectors(dtype)
    momentum = np.zeros_like(value)
    decay = (np.arange(value.size) % 3 > 0).astype(dtype) if masked else None
    v, m = value.astype(float), np.zeros(value.size)
    for k in range(3):
        g = (k + 1) * grad.astype(float) + 0.1 * (1 if decay is None else decay) * v
        m = 0.9 * m + g
        v = v - 0.05 * (g + 0.9 * m if nesterov else m)
        step_grad = (k + 1) * grad
        updates.sgd(value, step_grad, momentum, 0.05, 0.9, nesterov, decay, 0.1)
        assert not step_grad.any()  # ready for the next step
    close(value, v)
    close(momentum, m)


@pytest.mark.parametrize("dtype", FLOATS)
def test_sgd_without_momentum_needs_no_vector(dtype):
    value, grad = vectors(dtype)
    expected = value - dtype(0.5) * grad
    updates.sgd(value, grad, None, np.float64(0.5))
    close(value, expected)
    with pytest.raises(ValueError, match=r"momentum 0\.9 needs a momentum vector; got None"):
        updates.sgd(value, grad, None, 0.5, 0.9)


@pytest.mark.parametrize("dtype", FLOATS)
def test_adam_of_three_steps_and_eps_outside_the_correction(dtype):
    value, mean, square = np.ones(1, dtype), np.zeros(1, dtype), np.zeros(1, dtype)
    seen = []
    for step, g in enumerate((0.1, 0.1, -0.2), 1):
        updates.adam(value, np.full(1, g, dtype), mean, square, step, 1e-3)
        seen.append(float(value[0]))
    np.testing.assert_allclose(seen, [0.999, 0.998, 0.998075650], rtol=2e-7)  # case 70
    value, mean, square = np.ones(1, dtype), np.zeros(1, dtype), np.zeros(1, dtype)
    updates.adam(value, np.full(1, 1e-8, dtype), mean, square, 1, 1e-3)
    assert abs(value[0] - 0.9995) < 1e-6  # the other form gives 0.9999693


@pytest.mark.parametrize("decoupled", [False, True])
def test_adam_decay_is_added_or_decoupled(decoupled):
    value, grad = vectors(np.float64)
    mean, square, mask = np.zeros(37), np.zeros(37), (np.arange(37) % 2).astype(float)
    g = grad + (0 if decoupled else 0.1 * mask * value)
    expected = value * (1 - (0.01 * 0.1 * mask if decoupled else 0)) - 0.01 * g / (np.abs(g) + 1e-8)
    updates.adam(value, grad, mean, square, 1, 0.01, decay=mask, weight_decay=0.1, decoupled=decoupled)
    close(value, expected)
    with pytest.raises(ValueError, match="step is 0; updates are counted from 1"):
        updates.adam(value, grad, mean, square, 0, 0.01)


def test_float32_stays_float32_and_nan_stays_visible():
    value, grad = vectors(np.float32)
    grad[3] = np.nan
    momentum = np.zeros_like(value)
    updates.sgd(value, grad, momentum, np.sqrt(0.5), np.float64(0.9))  # case 72
    assert value.dtype == momentum.dtype == np.float32
    assert np.isnan(value[3])
    assert np.isfinite(np.delete(value, 3)).all()
