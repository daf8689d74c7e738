"""Products of a dense layer against NumPy, for every remainder of a tile."""

import numpy as np
import pytest

from dtnn.kernels import dense
from dtnn.kernels.aligned import aligned


def random(rng, *shape):
    out = aligned(shape)
    out[...] = rng.standard_normal(shape)
    return out


def close(a, b):
    np.testing.assert_allclose(a, b, atol=2e-5 * max(1, np.abs(b).max(initial=0)), rtol=0)


@pytest.mark.parametrize("count", [*range(1, 34), 64, 70, 256, 257])
def test_products(count):
    rng = np.random.default_rng(count)
    D, M = (int(n) for n in rng.integers(1, 60, 2))
    x, w, b, dy = random(rng, D, count), random(rng, M, D), random(rng, M), random(rng, M, count)
    y, dx, dw = np.full((M, count), np.nan, np.float32), np.full((D, count), np.nan, np.float32), random(rng, M, D)
    exact = w.astype(float) @ x + b[:, None]
    dense.forward(x, w, b, y)
    close(y, exact)
    dense.forward(x, w, b, y, relu=True)
    close(y, np.maximum(exact, 0))
    dense.forward(x, w, None, y)
    close(y, exact - b[:, None])
    dense.data_gradient(dy, w, dx)
    close(dx, w.T.astype(float) @ dy)
    dense.data_gradient(dy, w, dx, adds=True)
    close(dx, 2 * w.T.astype(float) @ dy)
    before = dw.copy()
    dense.weight_gradient(x, dy, dw)
    close(dw, before + dy.astype(float) @ x.T)


def test_empty_batch():
    y, dw = np.empty((3, 0), np.float32), np.ones((3, 4), np.float32)
    dense.forward(aligned((4, 0)), np.ones((3, 4), np.float32), None, y)
    dense.weight_gradient(aligned((4, 0)), y, dw)
    assert (dw == 1).all()
