"""Average pools: divisors, windows, gradients."""

import numpy as np
import pytest

from dtnn.nn import AdaptiveAvgPool2d, AvgPool2d, GlobalAvgPool2d
from tests.nn.checks import agree, check_gradients

LAYERS = [
    AvgPool2d(2), AvgPool2d(3, 2, 1), AvgPool2d((2, 3), (1, 2)), AvgPool2d(3, 2, 1, True, False), AdaptiveAvgPool2d((3, 2)),
    AdaptiveAvgPool2d(1), GlobalAvgPool2d(),
]  # fmt: skip


@pytest.mark.parametrize("layer", LAYERS)
def test_gradients(layer):
    check_gradients(layer, (2, 6, 5), 3)
    agree(layer, (2, 6, 5), 17)


def test_divisors():
    x = np.ones((1, 3, 3, 1))
    np.testing.assert_allclose(AvgPool2d(2, padding=1)(x)[0, :, :, 0], [[0.25, 0.5], [0.5, 1]])
    np.testing.assert_allclose(AvgPool2d(2, padding=1, count_include_pad=False)(x)[0, :, :, 0], np.ones((2, 2)))
    np.testing.assert_allclose(AvgPool2d(2, ceil_mode=True)(x)[0, :, :, 0], np.ones((2, 2)))  # beyond the image counts never


def test_adaptive_windows_overlap_as_they_must():
    x = np.arange(5.0).reshape(1, 5, 1, 1)
    np.testing.assert_allclose(AdaptiveAvgPool2d((3, 1))(x).ravel(), [0.5, 2, 3.5])


def test_errors():
    for layer in LAYERS:
        with pytest.raises(
            ValueError, match=r"takes samples of shape \(C, H, W\), but gets \(5,\); pooling comes before Flatten"
        ):
            layer.build((5,), None)
    with pytest.raises(ValueError, match=r"AdaptiveAvgPool2d: output_size is 0"):
        AdaptiveAvgPool2d(0)
