"""Parameters: one flat vector, names, frozen ones behind, buffers, pickles."""

import copy
import pickle

import numpy as np
import pytest

from dtnn.nn import Conv2d, Flatten, Layer, Linear, MaxPool2d, Parameter, Parameters, ReLU, Sequential
from dtnn.nn.parameters import ROOM


class Branch(Layer):
    """A layer with a layer, a list of layers and statistics inside."""

    buffers = ("mean",)

    def __init__(self):
        self.body, self.rest, self.mean = Sequential(Linear(4), Linear(4)), [Linear(4)], np.zeros(4)

    def build(self, shape, rng):
        for layer in (self.body, *self.rest):
            shape = layer.build(shape, rng)
        return shape


def net(*layers, shape=(1, 8, 8)):
    sequential = Sequential(*layers)
    sequential.build(shape, np.random.default_rng(0))
    return sequential


def small():
    return net(Conv2d(3, 3), ReLU(), MaxPool2d(2), Conv2d(2, 2), Flatten(), Linear(5), Linear(3))


def test_names_places_and_views():
    layers = small()
    p = Parameters(layers)
    names = [s.name for s in p.segments]
    assert names == [
        "conv2d_1.weight", "conv2d_1.bias", "conv2d_2.weight", "conv2d_2.bias",
        "linear_1.weight", "linear_1.bias", "linear_2.weight", "linear_2.bias",
    ]  # fmt: skip
    assert all(s.start % 16 == 0 for s in p.segments)
    assert p.value.ctypes.data % 64 == p.grad.ctypes.data % 64 == 0
    weight = layers.layers[0].weight
    weight.value[...] = 7
    weight.grad[...] = 8
    assert (p.value[:27] == 7).all()
    assert (p.grad[:27] == 8).all()
    assert [s.decay for s in p.segments] == [True, False] * 4
    assert p.decay.sum() == sum(s.size for s in p.segments if s.decay)
    assert p.trainable == len(p.decay)


def test_nested_names():
    p = Parameters(net(Linear(4), Branch(), shape=(4,)))
    assert [s.name for s in p.segments if s.name.endswith("weight")] == [
        "linear_1.weight", "branch_1.body.linear_2.weight", "branch_1.body.linear_3.weight", "branch_1.linear_4.weight",
    ]  # fmt: skip
    assert list(p.buffers) == ["branch_1.mean"]
    assert p.buffers["branch_1.mean"].dtype == np.float32


def test_frozen_ones_lie_behind_and_the_tail_between():
    layers = small()
    layers.layers[0].trainable = False
    p = Parameters(layers)
    assert [s.name for s in p.segments][-2:] == ["conv2d_1.weight", "conv2d_1.bias"]
    assert [s.trainable for s in p.segments] == [True] * 6 + [False] * 2
    assert p.trainable == sum(-(-s.size // 16) * 16 for s in p.segments if s.trainable)
    tail = p.tail(3)
    tail[...] = [1, 2, 3]
    assert p.reduced(3)[-3:].tolist() == [1, 2, 3]
    assert p.reduced().size == p.trainable
    assert not layers.layers[0].weight.grad.any()
    with pytest.raises(ValueError, match=f"tail of {ROOM + 1} numbers was asked for; there is room for {ROOM}"):
        p.tail(ROOM + 1)


def test_a_layer_used_twice_has_one_segment():
    shared = Linear(4)
    p = Parameters(net(shared, ReLU(), shared, shape=(4,)))
    assert [s.name for s in p.segments] == ["linear_1.weight", "linear_1.bias"]


def test_state_and_load():
    a, b = Parameters(small()), Parameters(small())
    b.value[...] = 0
    b.load(a.state())
    assert a.hash() == b.hash()
    b.value[3] += 1
    assert a.hash() != b.hash()


@pytest.mark.parametrize("copied", [lambda pair: pickle.loads(pickle.dumps(pair)), copy.deepcopy])
def test_a_pickled_network_still_has_views(copied):
    layers = small()
    p = Parameters(layers, np.float64)
    p.value[:5] = [1, 2, 3, 4, 5]
    p.grad[...] = 9
    layers2, p2 = copied((layers, p))
    assert p2.hash() == p.hash()
    assert p2.dtype == np.float64
    assert not p2.grad.any()
    layers2.layers[0].weight.value[...] = 7
    assert (p2.value[:27] == 7).all()
    x = np.random.default_rng(0).standard_normal((1, 8, 8, 2))
    p2.load(p.state())
    np.testing.assert_array_equal(layers2(x), layers(x))


def test_float64():
    layers = small()
    p = Parameters(layers, np.float64)
    assert p.value.dtype == layers.layers[0].weight.grad.dtype == p.decay.dtype == np.float64


def test_gradients_in_other_memory_and_back():
    layers = small()
    p = Parameters(layers)
    own, memory = p.grad, np.full(p.gradient_bytes, 255, np.uint8)
    p.place_gradients(memory)
    assert np.shares_memory(layers.layers[0].weight.grad, memory)
    assert not p.grad.any()
    layers.layers[0].weight.grad[...] = 5
    assert p.grad[0] == 5
    p.clear_gradients()
    memory[:] = 255
    for gradient in (p.grad, layers.layers[0].weight.grad):
        assert not gradient.any()
        assert not np.shares_memory(gradient, memory)
    back = p.grad
    p.grad[:] = 3
    p.clear_gradients()
    assert p.grad is back
    assert p.grad is not own
    assert not p.grad.any()


def test_what_was_put_in_the_place_of_a_view_is_taken_over():
    layers = small()
    p = Parameters(layers)
    layer, ones = layers.layers[0], np.ones((3, 1, 3, 3))
    value, grad = layer.weight.value, layer.weight.grad
    layer.weight.value, layer.weight.grad = ones, None
    p.take_over()
    assert (value == 1).all()
    assert np.shares_memory(layer.weight.value, p.value)
    assert np.shares_memory(layer.weight.grad, grad)
    layer.weight = Parameter(3 * ones)
    p.take_over()
    assert (value == 3).all()
    assert np.shares_memory(layer.weight.value, p.value)
    assert p.state()["conv2d_1.weight"].max() == 3
    layer.weight.value[...] = 4
    before = layer.weight.value
    p.take_over()
    assert layer.weight.value is before


def test_gradients_in_other_memory_are_views_too():
    layers = small()
    p = Parameters(layers)
    p.place_gradients(np.zeros(p.gradient_bytes, np.uint8))
    grad = layers.layers[0].weight.grad
    p.take_over()
    assert layers.layers[0].weight.grad is grad
    layers.layers[0].weight.grad = grad.copy()
    p.take_over()
    assert np.shares_memory(layers.layers[0].weight.grad, grad)
