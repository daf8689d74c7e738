"""Cross-entropy kernels: the formula, and numbers that overflow a careless one."""

import numpy as np
import pytest

from dtnn.kernels import losses


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_forms_are_the_formula(dtype):
    rng = np.random.default_rng(0)
    z, labels = rng.standard_normal((5, 7)).astype(dtype), rng.integers(0, 5, 7)
    p = np.exp(z.astype(float)) / np.exp(z.astype(float)).sum(0)
    one_hot = np.eye(5)[labels]
    expected, gradient = -np.log(p[labels, np.arange(7)]).sum(), (p - one_hot.T) / 14
    d = np.empty_like(z)
    total, bad = losses.cross_entropy_of_labels(z, labels, 14.0, d, np.empty(len(z)))
    assert bad == -1
    for found in (total, losses.cross_entropy_of_shares(z, one_hot, 14.0, d, np.empty(len(z)))):
        assert found == pytest.approx(expected, rel=1e-6)
        np.testing.assert_allclose(d, gradient, atol=1e-7)


def test_first_bad_label_is_named():
    d = np.empty((3, 4), np.float32)
    assert losses.cross_entropy_of_labels(d, np.array([0, 2, 3, -1]), 1.0, d, np.empty(len(d))) == (0.0, 2)
