"""The networks of the zoo: their numbers of parameters, and one step each."""

import numpy as np
import pytest

from dtnn import zoo
from dtnn.nn import Pass, cross_entropy, summary


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("mlp", 235_146),
        ("lenet5", 61_706),
        ("simplecnn", 101_958),
        ("resnet20", 272_474),
        ("vgg11", 9_228_362),
        ("alexnet", 3_831_114),
    ],
)
def test_parameters_and_a_step(name, parameters):
    model = getattr(zoo, name)()
    assert summary(model.net).parameters == parameters
    height, width, channels = model.input_shape
    x = np.random.default_rng(0).random((channels, height, width, 5), np.float32)
    y, backward = model.net.forward(x, Pass())
    loss, d = cross_entropy(y, np.arange(5))
    backward(d)
    assert y.shape == (10, 5)
    assert 1 < loss / 5 < 5
    assert all(
        model.parameters.grad[s.start : s.start + s.size].any() for s in model.parameters.segments if s.name.endswith("weight")
    )
