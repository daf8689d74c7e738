"""Sequential: fusion changes no number, buffers belong to the pass, layers of the user's own work between built-in ones."""

import copy
import pickle
import re
import threading

import numpy as np
import pytest

from dtnn.kernels.updates import sgd
from dtnn.nn import (
    BatchNorm1d,
    Conv2d,
    Dropout,
    Flatten,
    Layer,
    Linear,
    MaxPool2d,
    Parameters,
    Pass,
    ReLU,
    Residual,
    Sequential,
    cross_entropy,
)
from dtnn.nn.sequential import fused


def lenet(dtype=np.float32):
    net = Sequential(
        Conv2d(6, 5, padding=2),
        ReLU(),
        MaxPool2d(2),
        Conv2d(4, 3),
        ReLU(),
        Conv2d(3, 3),
        Flatten(),
        Linear(20),
        ReLU(),
        Linear(5),
    )
    net.build((1, 12, 12), np.random.default_rng(0))
    return net, Parameters(net, dtype)


def images(count, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal((1, 12, 12, count)).astype(dtype)


def train_step(net, p, x, labels, step):
    y, backward = net.forward(x, step)
    loss, d = cross_entropy(y, labels)
    backward(d)
    return loss, p.grad.copy()


def test_what_fuses():
    a, b, c = Conv2d(6, 5), MaxPool2d(2), Linear(4)
    plan = fused([a, ReLU(), b, Conv2d(3, 3), ReLU(), Flatten(), c, ReLU(), Dropout(0.5), ReLU()])
    kinds = [(type(layer).__name__, options) for layer, options in plan]
    assert kinds == [
        ("Conv2d", {}), ("MaxPool2d", {"over": True, "relu": True}), ("Conv2d", {"relu": True}),
        ("Flatten", {}), ("Linear", {"relu": True}), ("Dropout", {}), ("ReLU", {}),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fused_and_unfused_give_the_same_numbers(dtype):
    net, p = lenet(dtype)
    x, labels = images(37, dtype), np.arange(37) % 5
    loss, grad = train_step(net, p, x, labels, Pass())
    p.grad[...] = 0
    net._plan = [(layer, {}) for layer in net.layers]
    loss2, grad2 = train_step(net, p, x, labels, Pass())
    assert loss == loss2
    np.testing.assert_allclose(grad, grad2, atol=1e-6 * np.abs(grad).max(), rtol=0)
    assert np.abs(grad).max() > 0


def test_two_forwards_before_two_backwards():
    net, p = lenet(np.float64)
    xs, labels, step = [images(4, np.float64, seed) for seed in (1, 2)], np.arange(4), Pass()
    expected = sum(train_step(net, p, x, labels, Pass())[1] - (p.grad.fill(0) or 0) for x in xs)
    p.grad[...] = 0
    for number in range(2):  # the second time in buffers of the first
        p.grad[...] = 0
        step.begin(number, 0, 4, 4)
        passes = [net.forward(x, step) for x in xs]
        for y, backward in passes:
            backward(cross_entropy(y, labels)[1])
        np.testing.assert_allclose(p.grad, expected, atol=1e-12)


def test_one_layer_used_twice():
    shared = Linear(6)
    net = Sequential(shared, ReLU(), shared, Linear(3))
    net.build((6,), np.random.default_rng(0))
    p = Parameters(net, np.float64)
    x, labels = np.random.default_rng(1).standard_normal((6, 4)), np.array([0, 1, 2, 0])
    _, grad = train_step(net, p, x, labels, Pass())
    for place in range(0, 36, 5):
        losses = []
        for h in (1e-6, -1e-6):
            p.value[place] += h
            losses.append(cross_entropy(net.forward(x)[0], labels)[0])
            p.value[place] -= h
        assert grad[place] == pytest.approx((losses[0] - losses[1]) / 2e-6 / 4, rel=1e-5, abs=1e-9)
    with pytest.raises(
        ValueError, match=r"Linear\(6\) has weights of shape \(6, 6\) already, but here it needs \(6, 3\); use a new layer"
    ):
        Sequential(Linear(3), shared).build((6,), np.random.default_rng(0))


class Halve(Layer):
    """A user's layer with nothing but a forward; hostile to arrays that others need."""

    def forward(self, x):
        y = np.asfortranarray(x * 0.5)
        x[...] = np.nan  # its own copy

        def backward(dy):
            dx = (dy * 0.5).astype(np.float64)
            dy[...] = np.nan
            return dx[:]

        return y.astype(np.float64), backward


class Transpose(Layer):
    """Changes the shape, and says nothing of it in build."""

    def forward(self, x, step=None):
        return x.transpose(0, 2, 1, 3), lambda dy: dy.transpose(0, 2, 1, 3)


@pytest.mark.parametrize("count", [4, 16])
def test_a_users_layer_between_built_in_ones(count):
    x, labels = images(count), np.arange(count) % 3
    layers = [
        Conv2d(2, (3, 4)),
        ReLU(),
        Transpose(),
        Halve(),
        MaxPool2d(3),
        Halve(),
        Flatten(),
        Linear(4),
        ReLU(),
        Halve(),
        Linear(3),
    ]
    net = Sequential(*layers)
    net.build((1, 12, 12), np.random.default_rng(0))
    assert net.shapes[2] == (2, 9, 10)
    p = Parameters(net)
    loss, grad = train_step(net, p, x, labels, Pass())
    assert np.isfinite(loss)
    p64 = Parameters(net, np.float64)
    loss64, grad64 = train_step(net, p64, x.astype(float), labels, Pass())
    assert loss == pytest.approx(loss64, rel=1e-5)
    np.testing.assert_allclose(grad, grad64, atol=1e-5)
    assert np.abs(grad64).max() > 1e-3


def test_a_users_layer_that_errs_is_told_how():
    class NoPair(Layer):
        def forward(self, x):
            return x

    class LosesBatch(Layer):
        def forward(self, x):
            return x.sum(-1), lambda dy: dy

    with pytest.raises(TypeError, match=r"NoPair\(\): forward returned ndarray; it must return \(y, backward\)"):
        Sequential(NoPair()).forward(np.ones((3, 2), np.float32))
    with pytest.raises(
        ValueError, match=r"LosesBatch\(\): forward returned shape \(3,\) for \(3, 2\); the last axis is the batch"
    ):
        Sequential(LosesBatch()).forward(np.ones((3, 2), np.float32))
    with pytest.raises(TypeError, match=r"Sequential takes layers, but got <class .*ReLU'>; write ReLU\(\.\.\.\)"):
        Sequential(Linear(3), ReLU)
    with pytest.raises(TypeError, match=r"got 'relu'; derive its class from dtnn\.nn\.Layer"):
        Sequential("relu")


def test_errors_name_the_layer():
    with pytest.raises(
        ValueError, match=r"layer 3 \(conv2d_2, Conv2d\(4, 9\)\): .*window of \(9, 9\), but the image is \(6, 6\)"
    ):
        Sequential(Conv2d(2, 3, padding=1), MaxPool2d(2), Conv2d(4, 9)).build((1, 12, 12), np.random.default_rng(0))


def test_nan_in_one_pixel_reaches_the_loss():
    net, _ = lenet()
    x = images(20)
    x[0, 5, 5, 7] = np.nan
    y = net.forward(x)[0]
    assert np.isnan(y[:, 7]).all()
    assert np.isfinite(np.delete(y, 7, 1)).all()
    assert np.isnan(cross_entropy(y, np.zeros(20, int))[0])


def test_float32_stays_float32():  # case 72
    net, p = lenet()
    step, momentum = Pass(), np.zeros(p.trainable, np.float32)
    for number in range(10):
        step.begin(number, 0, 6, 6)
        y, backward = net.forward(images(6), step)
        d = cross_entropy(y, np.arange(6) % 5)[1]
        assert y.dtype == d.dtype == np.float32
        backward(d)
        sgd(p.value[: p.trainable], p.grad[: p.trainable], momentum, np.sqrt(0.5) * 0.01, np.float64(0.9))
    assert p.value.dtype == p.grad.dtype == momentum.dtype == np.float32


def test_buffers_are_used_again():
    net, _ = lenet()
    step, x = Pass(), images(20)

    def memory():
        step.begin(0, 0, 20, 20, x=x)
        y, backward = net.forward(x, step)
        backward(cross_entropy(y, np.arange(20) % 5)[1])
        return [buffer.memory.ctypes.data for buffer in step._kept]

    first = memory()
    assert len(first) > 5
    assert memory() == first


def test_inference_after_training_gives_the_same_and_any_batch_size_works():
    net, _ = lenet()
    x = images(33)
    whole = net(x)
    for count in (0, 1, 7, 16, 32):
        np.testing.assert_allclose(net(np.ascontiguousarray(x[..., :count])), whole[:, :count], atol=1e-5)


def test_networks_pickle_small_and_work():
    net, _ = lenet()
    x = images(3)
    y = net(x)
    text = pickle.dumps(net)
    assert len(text) < 4 * sum(layer.weight.value.nbytes for layer in net.layers if hasattr(layer, "weight"))
    np.testing.assert_array_equal(pickle.loads(text)(x), y)


def test_threads_run_the_same_layers_at_once():
    net, _ = lenet()
    xs = [images(20, seed=seed) for seed in range(4)]
    expected, found = [net(x).copy() for x in xs], [None] * 4

    def work(k):
        for _ in range(10):
            found[k] = net(xs[k]).copy()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    for a, b in zip(expected, found):
        np.testing.assert_array_equal(a, b)


def test_memory_of_gradients_serves_again():
    layers = [layer for _ in range(6) for layer in (Conv2d(4, 3, padding=1), ReLU())]
    net = Sequential(*layers, Flatten(), Linear(3))
    net.build((4, 8, 8), np.random.default_rng(0))
    p = Parameters(net)
    x, step = np.random.default_rng(1).standard_normal((4, 8, 8, 16)).astype(np.float32), Pass()
    expected = train_step(net, p, x, np.arange(16) % 3, Pass())[1]
    for _ in range(3):
        p.grad[...] = 0
        step.begin(0, 0, 16, 16, x=x)
        grad = train_step(net, p, x, np.arange(16) % 3, step)[1]
        np.testing.assert_array_equal(grad, expected)
    assert len(step._kept) == 6 + 1 + 2  # outputs, the last layer's, and two gradients in turn


def test_a_subclass_of_a_built_in_layer_keeps_its_relu():
    class Mine(Linear):
        pass

    net = Sequential(Mine(4), ReLU())
    net.build((3,), np.random.default_rng(0))
    assert net(np.random.default_rng(1).standard_normal((3, 9)).astype(np.float32)).min() == 0


def test_a_subclass_of_batch_norm_is_evaluated():
    class Mine(BatchNorm1d):
        pass

    net = Sequential(Mine())
    net.build((3,), np.random.default_rng(0))
    x = np.random.default_rng(1).standard_normal((3, 9)).astype(np.float32)
    np.testing.assert_allclose(net(x), x / np.sqrt(1 + 1e-5), rtol=1e-5)


class Diary:
    """Writes down who is done."""

    def __init__(self):
        self.pages = []

    def forward(self, layer):
        self.pages.append(("forward", layer))

    def backward(self, layer):
        self.pages.append(("backward", layer))


def test_a_watcher_hears_of_every_layer_when_it_is_done():
    inner, outer, last = Linear(4), None, Linear(2)
    outer = Residual(Sequential(inner))
    net = Sequential(outer, last)
    net.build((4,), np.random.default_rng(0))
    step, diary = Pass(), Diary()
    step.begin(0, 0, 3, 3, watcher=diary)
    y, backward = net.forward(np.ones((4, 3), np.float32), step)
    backward(np.ones_like(y))
    forward = [("forward", layer) for layer in (inner, outer, last)]
    assert diary.pages == [*forward, *(("backward", layer) for layer in (last, inner, outer))]


def test_the_gradient_of_a_layer_is_there_when_the_watcher_hears_of_it():
    first, last = Linear(4), Linear(2)
    net, found = Sequential(first, last), []
    net.build((3,), np.random.default_rng(0))
    diary = Diary()
    diary.backward = lambda layer: found.append((bool(first.weight.grad.any()), bool(last.weight.grad.any())))
    step = Pass()
    step.begin(0, 0, 5, 5, watcher=diary)
    y, backward = net.forward(np.ones((3, 5), np.float32), step)
    backward(np.ones_like(y))
    assert found == [(False, True), (True, True)]


CHANGES = {
    "layer 3, ReLU(), was put into": lambda layers: layers.append(ReLU()),
    "layer 1, Linear(2, bias=False), was put into": lambda layers: layers.__setitem__(0, Linear(2, bias=False)),
    "layer 2, Linear(2), was taken out of": lambda layers: layers.pop(),
    "the order of the layers was changed in": lambda layers: layers.reverse(),
}


@pytest.mark.parametrize("text", CHANGES)
def test_layers_that_were_changed_by_hand_are_told_until_the_network_is_built_again(text):
    net = Sequential(Linear(2), Linear(2))
    net.build((2,), np.random.default_rng(0))
    x = np.ones((2, 3), np.float32)
    net(x)
    CHANGES[text](net.layers)
    with pytest.raises(ValueError, match=f"{re.escape(text)} a network that is built already: make a new model"):
        net(x)
    net.build((2,), np.random.default_rng(0))
    net(x)


def test_the_same_layers_in_another_list_are_no_change():
    net = Sequential(Linear(2), ReLU())
    net.build((2,), np.random.default_rng(0))
    net.layers = list(net.layers)
    net(np.ones((2, 3), np.float32))
    copy.deepcopy(net)(np.ones((2, 3), np.float32))


@pytest.mark.parametrize("layer", [Linear(2), Sequential(Linear(2)), Conv2d(2, 1), BatchNorm1d()], ids=repr)
def test_a_layer_that_is_not_built_says_so(layer):
    with pytest.raises(ValueError, match=r"\) is not built yet: put it into a Model, or call its build\(shape, rng\)"):
        layer(np.zeros((3, 4, 4, 2), np.float32))


def test_a_layer_of_ones_own_may_have_no_weight():
    class Plain(Layer):
        weight = None

        def forward(self, x, step=None):
            return 2 * x, lambda dy: 2 * dy

    assert Plain()(np.ones(3)).tolist() == [2, 2, 2]
