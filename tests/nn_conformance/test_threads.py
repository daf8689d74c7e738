"""Case 84: two threads give the numbers of one, each time again; what is added up in another order differs by rounding."""

import numpy as np
import pytest

from dtnn.kernels import parts
from dtnn.machine import threads
from dtnn.nn import Parameters, Pass
from dtnn.nn.replay import Replay
from tests.nn_conformance.test_conformance import build, cleared, close, delta, gradients, inputs

pytestmark = pytest.mark.slow  # compiles a second version of most kernels

LAYERS = [
    ("Linear(40)", (70,)),
    ("Conv2d(8, 3, padding=1)", (6, 10, 9)),
    ("Conv2d(8, 5, stride=2)", (6, 11, 10)),
    ("Conv2d(24, 3, padding=1, algorithm='winograd')", (20, 10, 9)),
    ("MaxPool2d(3, 2, 1)", (6, 10, 9)),
    ("BatchNorm2d()", (6, 10, 9)),
]


@pytest.mark.parametrize(("call", "shape"), LAYERS)
@pytest.mark.parametrize("count", [5, 40])
def test_two_threads_give_the_numbers_of_one(call, shape, count, monkeypatch):
    monkeypatch.setattr(parts, "LEAST_WORK", 1)  # however small
    layer, out = build(call, shape)
    x, dy = inputs(call, shape, count), delta(out, count)

    def numbers():
        cleared(layer)
        y, backward = layer.forward(x, Pass())
        y = y.copy()
        return y, backward(dy.copy()).copy(), gradients(layer)

    alone = numbers()
    with threads(2):
        first = numbers()
        close(first, alone)
        for _ in range(50):
            again = numbers()
            for a, b in zip((*again[:2], *again[2].values()), (*first[:2], *first[2].values())):
                np.testing.assert_array_equal(a, b)
    close(numbers(), alone, 0)
    assert Parameters(layer).value.dtype == np.float32


def test_a_step_from_the_tape_runs_on_two_threads_too(monkeypatch):
    monkeypatch.setattr(parts, "LEAST_WORK", 1)
    net, out = build("Sequential(Conv2d(8, 3, padding=1), ReLU(), MaxPool2d(2), Flatten(), Linear(5))", (6, 10, 10))
    x, dy = inputs("", (6, 10, 10), 40), delta(out, 40)
    with threads(2):
        cleared(net)
        y, backward = net.forward(x, Pass())
        wanted = y.copy(), backward(dy.copy()).copy(), gradients(net)
        replay, step = Replay(net), Pass()
        for number in range(20):
            cleared(net)
            step.begin(number, 0, 40, 40)
            y, backward = replay.forward(x, step)
            close((y, backward(dy), gradients(net)), wanted, 0)
