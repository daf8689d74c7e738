"""Turning a mini-batch: every image, every channel at its place."""

import numpy as np
import pytest

from dtnn.kernels.aligned import aligned
from dtnn.kernels.gather import gather


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("out_dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 7, 16, 33])
def test_images(dtype, out_dtype, count):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 255, (50, 5, 3, 2)).astype(dtype)
    indices = rng.permutation(50)[:count]
    out = aligned((2, 5, 3, count), out_dtype)
    assert gather(rows, indices, out, 0.5) is out
    np.testing.assert_array_equal(out, rows[indices].transpose(3, 1, 2, 0) * 0.5)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("shape", [(28, 28, 1), (5, 7, 1), (8, 4, 2), (5, 7, 3), (1, 1, 17), (2, 3, 40), (40,), (16,), (3,)])
@pytest.mark.parametrize("count", [1, 16, 37])
def test_blocks_and_what_is_left_of_them(dtype, shape, count):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 255, (40, *shape)).astype(dtype)
    indices = rng.permutation(40)[:count]
    out = aligned((*((shape[2], *shape[:2]) if len(shape) == 3 else shape), count))
    gather(rows, indices, out, 1 / 255)
    expected = np.moveaxis(rows[indices].astype(np.float32) * np.float32(1 / 255), 0, -1)
    np.testing.assert_array_equal(out, np.moveaxis(expected, 2, 0) if len(shape) == 3 else expected)


def test_rows():
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    out = gather(rows, np.array([3, 3, 0]), np.empty((3, 3), np.float32), 1)
    np.testing.assert_array_equal(out, rows[[3, 3, 0]].T)


def test_refuses_what_would_read_elsewhere():
    rows = np.zeros((4, 3), np.float32)
    with pytest.raises(ValueError, match=r"indices go from -1 to 2, but there are 4 samples"):
        gather(rows, np.array([-1, 2]), np.empty((3, 2), np.float32))
    with pytest.raises(ValueError, match=r"indices go from 0 to 4"):
        gather(rows, np.array([0, 4]), np.empty((3, 2), np.float32))
    with pytest.raises(ValueError, match=r"out has shape \(2, 2\).*need \(3, 2\)"):
        gather(rows, np.array([0, 1]), np.empty((2, 2), np.float32))
