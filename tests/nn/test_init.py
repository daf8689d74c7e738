"""First weights: the right fans, the right spread."""

import numpy as np
import pytest

from dtnn.nn import init


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
