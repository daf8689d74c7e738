"""MaxPool2d: borders of minus infinity, ceil mode, gradients."""

import numpy as np
import pytest

from dtnn.nn import AvgPool2d, MaxPool2d
from tests.nn.checks import agree, check_gradients


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outside_is_minus_infinity(dtype):  # case 60
    x = np.array([[1, -1, 0], [-1, 2, 1], [0, 2, -2]], dtype).reshape(1, 3, 3, 1)
    np.testing.assert_array_equal(MaxPool2d(2, ceil_mode=True)(x)[0, :, :, 0], [[2, 1], [2, -2]])
    y = MaxPool2d(2, padding=1)(np.full((1, 3, 3, 1), -1, dtype))
    assert (y == -1).all()


@pytest.mark.parametrize("count", [1, 16, 33])
@pytest.mark.parametrize("layer", [MaxPool2d(2), MaxPool2d(3, 2, 1), MaxPool2d((2, 3), (1, 2)), MaxPool2d(3, 2, ceil_mode=True)])
def test_float32_agrees(layer, count):
    for options in ({}, {"relu": True}, {"over": True}):
        agree(layer, (3, 8, 6), count, **options)


@pytest.mark.parametrize("options", [{}, {"relu": True}])
def test_gradients(options):
    for layer in (MaxPool2d(2), MaxPool2d(3, 2, 1), MaxPool2d((2, 3), (1, 2)), MaxPool2d(2, ceil_mode=True)):
        check_gradients(layer, (2, 5, 7), 3, **options)


def test_errors():
    with pytest.raises(ValueError, match=r"MaxPool2d: padding \(2, 2\) is more than half of kernel_size \(3, 3\).*use less"):
        MaxPool2d(3, padding=2)
    with pytest.raises(ValueError, match=r"MaxPool2d: stride is 0"):
        MaxPool2d(3, stride=0)
    with pytest.raises(
        ValueError, match=r"MaxPool2d\(4\) has a window of \(4, 4\), but the image is \(3, 9\); use a smaller kernel_size"
    ):
        MaxPool2d(4).build((1, 3, 9), None)
    with pytest.raises(ValueError, match=r"pooling comes before Flatten"):
        MaxPool2d(4).build((9,), None)


@pytest.mark.parametrize("pool", [MaxPool2d, AvgPool2d])
def test_a_window_beyond_the_image_has_one_place_in_ceil_mode_or_none(pool):
    layer = pool(4, 2, 1, ceil_mode=True)
    assert layer.build((3, 1, 4), None) == (3, 1, 2)
    assert layer(np.ones((3, 1, 4, 5), np.float32)).shape == (3, 1, 2, 5)
    with pytest.raises(ValueError, match=r"has a window of \(4, 4\), but the image is \(1, 9\); use a smaller kernel_size"):
        pool(4, 1, 1, ceil_mode=True).build((3, 1, 9), None)
