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
    ):
        weights = function(rng, shape)
        assert weights.shape == shape
        assert weights.dtype == np.float64
        assert weights.var() == pytest.approx(variance, rel=0.05)
        assert abs(weights.mean()) < 4 * np.sqrt(variance / weights.size)


def test_constants():
    assert not init.zeros(None, (2, 3)).any()
    assert (init.ones(None, (2, 3)) == 1).all()
