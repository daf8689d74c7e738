"""Transposition by blocks of 16 x 16."""

import numpy as np
import pytest

from dtnn.kernels.turn_tile import turn


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (16, 16), (15, 17), (33, 5), (40, 70)])
def test_turn(rows, columns):
    x = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    y = np.full(rows * columns, np.nan, np.float32)
    turn(0, 1, x.reshape(-1), rows, columns, y)
    np.testing.assert_array_equal(y.reshape(columns, rows), x.T)
