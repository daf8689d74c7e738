"""Replay: done again from the tape, a step gives the numbers that the layers give, whatever lies in the buffers."""

import threading

import numpy as np
import pytest

from dtnn import nn
from dtnn.comm import Serial
from dtnn.data import Samples
from dtnn.model import Model
from dtnn.nn import Parameters, Pass, Sequential
from dtnn.nn.replay import Replay
from dtnn.nn.tree import named_parameters
from dtnn.optim import SGD
from dtnn.records import Step
from dtnn.training import train

NETS = {
    "Conv2d(4, 3, padding=1), ReLU(), MaxPool2d(2), Conv2d(6, 3), Flatten(), Linear(5), ReLU(), Linear(3)": (2, 9, 10),
    "Conv2d(5, 1), LeakyReLU(), Conv2d(4, 3, stride=2), Dropout(0.4), GlobalAvgPool2d(), Linear(3)": (3, 7, 6),
    "Conv2d(6, 3, groups=3), Conv2d(6, 3, groups=6), BatchNorm2d(), ReLU(), AvgPool2d(2), Reshape((-1,))": (3, 8, 8),
    "Conv2d(16, 3, padding=1), Conv2d(16, 3, padding=1), ReLU(), MaxPool2d(2, 1), MaxPool2d(3, 2, 1)": (16, 6, 5),
    "Conv2d(3, 3, padding=1), Residual(Sequential(Conv2d(3, 3, padding=1), BatchNorm2d(), ReLU())), ReLU()": (3, 5, 6),
    "Residual(Sequential(Conv2d(4, 3, stride=2, padding=1), BatchNorm2d()), Conv2d(4, 1, stride=2)), ReLU(), Dropout(0.5)": (
        3,
        6,
        5,
    ),
    "Concatenate(Sequential(), Conv2d(2, 3, padding=1)), ReLU(), Concatenate(Conv2d(3, 1), Conv2d(2, 1))": (3, 4, 5),
    "Linear(8), BatchNorm1d(), ELU(), LayerNorm(), Linear(4), Tanh(), Linear(4), Softmax()": (6,),
    "Linear(8, bias=False), GELU(), SiLU(), Sigmoid(), Linear(4), LogSoftmax()": (6, 3),
    "Conv2d(70, 3, padding=1), Conv2d(70, 3, padding=1), AdaptiveAvgPool2d((2, 3)), ReLU()": (66, 5, 5),
}


def built(layers, shape):
    net = Sequential(*eval(f"[{layers}]", vars(nn)))
    out = net.build(shape, np.random.default_rng(0))
    Parameters(net, np.float32)
    return net, out


def poison(step):
    """Nothing that is left over from the last step may be taken for a result."""
    for buffer in step._kept:
        buffer.memory.view(np.uint8)[...] = 255  # not a number, in every float type


def numbers(net, forward, step, number, x, dy, made_again=False):
    """(y, dx, gradients and statistics) of a step."""
    for _, p, _ in named_parameters(net):
        p.grad[...] = 0
    step.begin(number, 3 * number, x.shape[-1], 200)
    if made_again:
        poison(step)
    y, backward = forward(x, step)
    y = y.copy()
    return [y, backward(dy.copy()).copy(), *(p.grad.copy() for _, p, _ in named_parameters(net))]


@pytest.mark.parametrize("layers", NETS)
@pytest.mark.parametrize("count", [1, 2, 5, 16, 33])
def test_a_step_from_the_tape_gives_the_numbers_of_the_layers(layers, count):
    rng, (net, out) = np.random.default_rng(count), built(layers, NETS[layers])
    x, dy = np.empty((*NETS[layers], count), np.float32), np.empty((*out, count), np.float32)
    replay, taped, direct = Replay(net), Pass(seed=4), Pass(seed=4)
    assert replay.able
    for number in range(4):
        x[...], dy[...] = rng.standard_normal(x.shape), rng.standard_normal(dy.shape)
        wanted = numbers(net, net.forward, direct, number, x, dy)
        found = numbers(net, replay.forward, taped, number, x, dy, made_again=number > 0)
        for a, b in zip(found, wanted):
            np.testing.assert_array_equal(a, b)
    assert len(replay.tapes) == 1


def test_running_statistics_move_once_a_step():
    layers, shape = "Linear(4), BatchNorm1d()", (3,)
    (a, _), (b, _) = built(layers, shape), built(layers, shape)
    x, rng, step, replay = np.empty((3, 8), np.float32), np.random.default_rng(0), Pass(), Replay(b)
    for number in range(3):
        x[...] = rng.standard_normal(x.shape)
        a.forward(x, Pass())
        step.begin(number, 0, 8, 8)
        replay.forward(x, step)[1](np.ones((4, 8), np.float32))
    np.testing.assert_array_equal(a.layers[1].running_var, b.layers[1].running_var)


@pytest.mark.parametrize(
    "layers", ["Conv2d(2, 3, algorithm='im2col')", "BatchNorm2d(sync=True)", "Sequential(Conv2d(2, 1), Mine())"]
)
def test_other_networks_run_as_they_are(layers):
    class Mine(nn.Layer):
        def forward(self, x, step=None):
            return x, lambda dy: dy

    net = Sequential(*eval(f"[{layers}]", {**vars(nn), "Mine": Mine}))
    net.build((3, 4, 4), np.random.default_rng(0))
    assert not Replay(net).able


def test_another_array_thread_or_number_of_threads_is_written_down_anew():
    net, _ = built("Linear(3)", (4,))
    replay, step = Replay(net), Pass()
    for x in (np.ones((4, 16), np.float32), 2 * np.ones((4, 16), np.float32)):
        step.begin(0, 0, 16, 16)
        np.testing.assert_array_equal(replay.forward(x, step)[0], net(x))
    kept = replay.tapes[16]
    kept.threads = 7
    step.begin(0, 0, 16, 16)
    replay.forward(x, step)
    assert replay.tapes[16] is not kept
    kept = replay.tapes[16]
    step.begin(0, 0, 16, 16)
    other = threading.Thread(target=replay.forward, args=(x, step))  # its scratch memory is another
    other.start()
    other.join()
    assert replay.tapes[16] is not kept


@pytest.mark.parametrize("where", ["layer", "class"])
def test_a_forward_that_was_put_in_the_place_of_a_layers_is_called_in_every_step(where, monkeypatch):
    seen, (net, _) = [], built("Linear(4), Residual(Sequential(Linear(4)))", (4,))
    of = net.layers[1].body.layers[0] if where == "layer" else nn.Linear
    old = of.forward

    def counted(*args, **options):
        seen.append(1)
        return old(*args, **options)

    replay, step, x = Replay(net), Pass(), np.ones((4, 5), np.float32)

    def calls():
        step.begin(0, 0, 5, 5)
        replay.forward(x, step)[1](np.ones((4, 5), np.float32))
        return len(seen)

    assert calls() == 0
    monkeypatch.setattr(of, "forward", counted)
    replay.refresh()
    first = calls()
    assert first > 0
    assert calls() == 2 * first


def test_statistics_that_are_to_be_synchronous_from_an_epoch_on_leave_the_tape():
    net, _ = built("Linear(4), BatchNorm1d()", (3,))
    replay = Replay(net)
    net.layers[1].sync = True
    replay.refresh()
    assert not replay.able


def test_a_forward_that_fails_leaves_no_tape_behind():
    net, _ = built("Linear(3), Linear(2)", (4,))
    replay, step, x = Replay(net), Pass(), np.ones((4, 5), np.float32)
    good, net.layers[1].forward = net.layers[1].forward, None
    with pytest.raises(TypeError):
        replay.forward(x, step)
    net.layers[1].forward = good
    np.testing.assert_array_equal(replay.forward(x, step)[0], net(x))


def test_a_forward_whose_backward_never_came_spoils_no_later_step():
    net, _ = built("Linear(8), ReLU(), Linear(3)", (5,))
    replay, step = Replay(net), Pass()
    x, dy = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32), np.ones((3, 4), np.float32)
    wanted = numbers(net, net.forward, Pass(), 1, x, dy)
    step.begin(0, 0, 4, 4)
    replay.forward(x, step)
    for a, b in zip(numbers(net, replay.forward, step, 1, x, dy), wanted):
        np.testing.assert_array_equal(a, b)


def test_the_watcher_of_each_step_hears_of_the_layers():
    net, _ = built("Linear(3), Linear(2)", (4,))
    replay, step, x = Replay(net), Pass(), np.ones((4, 5), np.float32)

    class Diary(list):
        def forward(self, layer):
            self.append(("forward", net.layers.index(layer)))

        def backward(self, layer):
            self.append(("backward", net.layers.index(layer)))

    for watcher in (None, Diary(), None, Diary()):
        step.begin(0, 0, 5, 5, x=x, watcher=watcher)
        replay.forward(x, step)[1](np.ones((2, 5), np.float32))
        assert watcher is None or watcher == [("forward", 0), ("forward", 1), ("backward", 1), ("backward", 0)]
    for watched, unwatched in (replay.tapes[5].there, replay.tapes[5].back):
        assert len(watched) == len(unwatched) + len(net.layers)


def test_a_change_at_a_layer_between_two_epochs_is_seen(monkeypatch):
    """...and a training whose layers are asked in every step has the same losses."""
    x = np.random.default_rng(0).random((40, 6), np.float32)
    samples = Samples(x, np.arange(40) % 3)

    def losses(asked):
        monkeypatch.setattr(nn.Linear, "replays", not asked)
        model, found = Model(nn.Linear(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(3), input_shape=6), []
        for record in train(Serial(), model, samples, optimizer=SGD(0.1), epochs=4, batch_size=16):
            if isinstance(record, Step):
                found.append(record.loss)
            elif getattr(record, "epoch", 0) == 2:
                model.layers[2].rate = 0.1
        return found

    np.testing.assert_array_equal(losses(False), losses(True))
