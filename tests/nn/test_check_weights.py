"""Weights that a network can't take, put in by hand or loaded, are told with what to do instead."""

import numpy as np
import pytest

from dtnn.nn import Conv2d, Flatten, Linear, Parameters, ReLU, Sequential


def small():
    layers = Sequential(Conv2d(3, 3), ReLU(), Flatten(), Linear(5))
    layers.build((1, 8, 8), np.random.default_rng(0))
    return layers


def test_weights_of_another_network_are_not_loaded():
    a, b = Parameters(small()), Parameters(small())
    state = a.state()
    state["conv2d_1.weight"] = np.zeros((3, 1, 2, 2))
    with pytest.raises(ValueError, match=r"conv2d_1\.weight has shape \(3, 1, 3, 3\) in this network, but \(3, 1, 2, 2\)"):
        b.load(state)
    del state["conv2d_1.weight"]
    with pytest.raises(ValueError, match=r"missing \['conv2d_1\.weight'\].*load them into a model of the same layers"):
        b.load(state)
    for other in (None, 3, [1], b"x", a.value):
        with pytest.raises(TypeError, match=r"weights are a dict of arrays by name, as model.state_dict\(\) gives it, but got"):
            b.load(other)


def test_what_can_not_be_taken_over_is_told():
    layers = small()
    p = Parameters(layers)
    layers.layers[0].weight.value = np.ones(27)
    with pytest.raises(
        ValueError, match=r"conv2d_1\.weight\.value was given the shape \(27,\), but its layer was built for \(3, 1"
    ):
        p.take_over()
    layers.layers[0].weight = np.ones((3, 1, 3, 3))
    with pytest.raises(
        ValueError, match=r"conv2d_1\.weight was replaced by ndarray, which nobody trains: write into it, weight\.val"
    ):
        p.take_over()
