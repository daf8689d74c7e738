"""Dropout: the rate, the scale, the same mask backward and on any split of the batch."""

import numpy as np
import pytest

from dtnn.kernels.dropout import dropout
from dtnn.kernels.random import stream, stream_of


def place(seed, step=0, first=0):
    return np.array([seed, step, first], np.uint64)


@pytest.mark.parametrize("keys", [(0, 0, 0), (1, 2, 3), (2**64 - 1, 10**9, 7), (2**63, 1, 0)])
def test_kernels_make_the_same_streams(keys):
    assert stream_of(*map(np.uint64, keys)) == stream(*keys)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_rate_and_scale(dtype, rate):
    x = np.ones((200, 100), dtype)
    y = np.empty_like(x)
    dropout(x, y, rate, place(1, 2), 3)
    assert abs((y == 0).mean() - rate) < 0.02
    np.testing.assert_allclose(y[y != 0], 1 / (1 - rate), rtol=1e-6)
    again = x.copy()
    dropout(again, again, rate, place(1, 2), 3)
    np.testing.assert_array_equal(again, y)


def test_mask_does_not_depend_on_the_split():
    x = np.ones((3, 5, 33), np.float32)
    whole, parts = np.empty_like(x), []
    dropout(x, whole, 0.5, place(7), 0)
    for first, count in ((0, 11), (11, 16), (27, 6)):
        part = np.empty((3, 5, count), np.float32)
        dropout(np.ascontiguousarray(x[..., first : first + count]), part, 0.5, place(7, first=first), 0)
        parts.append(part)
    np.testing.assert_array_equal(np.concatenate(parts, -1), whole)
