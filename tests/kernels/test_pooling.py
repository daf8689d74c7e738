"""Max pooling 16 images at once against NumPy."""

import numpy as np
import pytest

from dtnn.kernels import pooling, pooling_plain


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("count", [1, 7, 16, 33, 64])
@pytest.mark.parametrize(
    ("size", "stride", "padding"), [((2, 2), (2, 2), (0, 0)), ((3, 2), (2, 1), (1, 1)), ((3, 3), (1, 2), (0, 1))]
)
def test_against_numpy(relu, count, size, stride, padding):
    rng = np.random.default_rng(count)
    C, H, W = 3, 8, 6
    x = rng.integers(-4, 5, (C, H, W, count)).astype(np.float32)  # with ties: the first maximum gets the gradient
    shape = (C, *((n + 2 * p - k) // s + 1 for n, k, s, p in zip((H, W), size, stride, padding)), count)
    y, y8, dy = np.empty(shape, np.float32), np.empty(shape), rng.standard_normal(shape).astype(np.float32)
    window = size, stride, padding
    pooling.max_pool(0, 1, x.reshape(-1), x.shape, y.reshape(-1), shape, *window, np.float32(0 if relu else -np.inf))
    pooling_plain.max_pool(x, y8, *window, relu)
    np.testing.assert_array_equal(y, y8)
    dx, dx8 = np.full(x.shape, np.nan, np.float32), np.empty(x.shape)
    tiles = size == (2, 2)
    shapes = x.reshape(-1), x.shape, y.reshape(-1), dy.reshape(-1), shape
    pooling.max_pool_gradient(0, 1, *shapes, *window, relu, tiles, dx.reshape(-1))
    pooling_plain.max_pool_gradient(x.astype(float), y8, dy.astype(float), *window, relu, dx8)
    np.testing.assert_allclose(dx, dx8, atol=1e-6)


def test_nan_stays_and_takes_the_gradient():
    x = np.zeros((1, 2, 2, 2), np.float32)
    x[0, 1, 0, 1] = np.nan
    y, dx = np.empty((1, 1, 1, 2), np.float32), np.empty_like(x)
    window = (2, 2), (2, 2), (0, 0)
    pooling.max_pool(0, 1, x.reshape(-1), x.shape, y.reshape(-1), y.shape, *window, np.float32(0))
    assert np.isnan(y[..., 1]).all()
    assert not np.isnan(y[..., 0]).any()
    pooling.max_pool_gradient(
        0, 1, x.reshape(-1), x.shape, y.reshape(-1), np.ones(2, np.float32), y.shape, *window, False, True, dx.reshape(-1)
    )
    assert dx[0, :, :, 1].ravel().tolist() == [0, 0, 1, 0]
