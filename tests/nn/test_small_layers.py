"""Flatten, ReLU and Dropout."""

import numpy as np
import pytest

from dtnn.nn import Dropout, Flatten, Pass, ReLU, Reshape
from tests.nn.checks import agree, check_gradients


def test_flatten_is_a_view():
    x = np.arange(24.0).reshape(2, 3, 2, 2)
    y, backward = Flatten().forward(x)
    assert np.shares_memory(x, y)
    assert y.shape == (12, 2)
    np.testing.assert_array_equal(backward(y), x)


def test_reshape():
    x = np.arange(24.0).reshape(12, 2)
    y, backward = Reshape((2, -1, 2)).forward(x)
    assert np.shares_memory(x, y)
    assert y.shape == (2, 3, 2, 2)
    np.testing.assert_array_equal(backward(y), x)
    for shape in ((5, -1), (-1, -1), (3, 5), (0, -1), (-2, 6)):
        with pytest.raises(ValueError, match=r"Reshape\(.*\) can't hold samples of shape \(12,\), which are 12 numbers"):
            Reshape(shape).build((12,), None)


@pytest.mark.parametrize("layer", [Flatten(), ReLU(), Reshape((4, -1))])
def test_gradients(layer):
    check_gradients(layer, (2, 3, 4), 3)
    agree(layer, (2, 3, 4), 17)


def test_relu_passes_nan():
    y = ReLU()(np.array([[-1, 0, 2, np.nan]], np.float32))
    np.testing.assert_array_equal(y, [[0, 0, 2, np.nan]])


def test_dropout_masks_backward_as_forward():
    x = np.ones((50, 40), np.float32)
    y, backward = Dropout(0.25).forward(x)
    np.testing.assert_array_equal(backward(np.ones_like(x)), y)
    np.testing.assert_allclose(y[y > 0], 4 / 3, rtol=1e-6)


def test_dropout_is_off_in_inference():
    x = np.ones((5, 4), np.float32)
    np.testing.assert_array_equal(Dropout(0.9)(x), x)
    np.testing.assert_array_equal(Dropout(0).forward(x)[0], x)


def test_dropout_does_not_depend_on_the_ranks_but_on_everything_else():
    x, layer = np.ones((50, 40), np.float32), Dropout(0.5)

    def draw(seed=0, number=0, first=0, count=40, uses=1):
        step = Pass(seed)
        step.begin(number, first, count, 40)
        return [layer.forward(x[:, first : first + count].copy(), step)[0].copy() for _ in range(uses)][-1]

    whole = draw()
    np.testing.assert_array_equal(np.concatenate([draw(first=0, count=13), draw(first=13, count=27)], 1), whole)
    for other in (draw(seed=1), draw(number=1), draw(uses=2)):
        assert 0.4 < (other == whole).mean() < 0.6


def test_dropout_rate_is_checked():
    for rate in (-0.1, 1, 1.5):
        with pytest.raises(ValueError, match=rf"Dropout: rate is {rate}; it must be in \[0, 1\), such as 0\.5"):
            Dropout(rate)
    with pytest.raises(TypeError, match="Dropout: rate is 'half'"):
        Dropout("half")
