"""Kernels in parts: two threads do what one does, the bits don't depend on who did what, and one thread compiles no twin."""

import os
import subprocess
import sys

import numpy as np
import pytest

from dtnn import machine
from dtnn.kernels import dense, parts
from dtnn.kernels.cache import Disk
from dtnn.nn import BatchNorm2d, Conv2d, Flatten, Linear, MaxPool2d, Pass, ReLU, Sequential
from dtnn.nn.tree import named_parameters

WINOGRAD = (3, 8, 8), (
    Conv2d(16, 3, padding=1), BatchNorm2d(), ReLU(), Conv2d(16, 3, padding=1), ReLU(), MaxPool2d(2), Flatten(), Linear(10),
)  # fmt: skip
DIRECT = (2, 13, 11), (
    Conv2d(6, 5, stride=2, padding=2), ReLU(), Conv2d(5, 3), ReLU(), MaxPool2d(2, 1), Flatten(), Linear(33), ReLU(), Linear(7),
)  # fmt: skip
DEPTHWISE = (3, 9, 7), (Conv2d(6, 3, stride=(2, 1), padding=1, groups=3), ReLU(), Flatten(), Linear(5))
CHANNELS = (64, 4, 5), (Conv2d(70, 3, padding=1, exact=True), BatchNorm2d(), Flatten(), Linear(20))


@pytest.fixture
def in_parts(monkeypatch):
    """A function that sets in how many parts everything is done, however small it is."""
    monkeypatch.setattr(parts, "LEAST_WORK", 0)

    def set_number(number):
        monkeypatch.setattr(parts, "threads_here", lambda: number)

    return set_number


def step(net, x):
    """Output, gradient of the input, and all gradients of one pass."""
    y, backward = net.forward(x.copy(), Pass())
    y = y.copy()
    dx = backward(np.sin(np.arange(y.size, dtype=np.float32)).reshape(y.shape))
    found = [y, dx.copy(), *(p.grad.copy() for _, p, _ in named_parameters(net))]
    for _, p, _ in named_parameters(net):
        p.grad[...] = 0
    return found


def one_after_the_other(box, body, arguments, number):
    """What needs no compiling."""
    for part in range(number):
        body(part, number, *arguments)


def made(shape, layers, count):
    net, rng = Sequential(*layers), np.random.default_rng(0)
    net.build(shape, rng)
    return net, rng.standard_normal((*shape, count)).astype(np.float32)


def assert_close(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-4 * max(0.1, np.abs(b).max()))


@pytest.mark.parametrize("count", [1, 9, 16, 40, 64])
@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize(("shape", "layers"), [WINOGRAD, DIRECT, CHANNELS, DEPTHWISE])
def test_any_number_of_parts_gives_the_same(in_parts, monkeypatch, shape, layers, number, count):
    net, x = made(shape, layers, count)
    in_parts(1)
    expected = step(net, x)
    in_parts(number)
    monkeypatch.setattr(parts, "twin", lambda body: lambda arguments, room: (body, arguments))
    monkeypatch.setattr(parts, "do_all", one_after_the_other)
    assert_close(step(net, x), expected)


@pytest.mark.limit(300)
def test_fifty_steps_on_two_threads_are_equal(in_parts):
    net, x = made(*WINOGRAD, 64)
    in_parts(1)
    expected = step(net, x)
    in_parts(2)
    first = step(net, x)
    assert_close(first, expected)
    for _ in range(50):
        for a, b in zip(step(net, x), first, strict=True):
            np.testing.assert_array_equal(a, b)


def test_one_thread_needs_no_twin():
    before = parts.twin.cache_info().misses
    with machine.threads(1):
        step(*made(*WINOGRAD, 16))
    step(*made(*WINOGRAD, 16))
    assert parts.twin.cache_info().misses == before


def test_small_work_is_not_divided():
    with machine.threads(2):
        assert parts.parts_for(1000) == 1
        assert parts.parts_for(10**9) == machine.threads_here()


def test_twins_of_sisters_are_kept_apart():
    made = [parts.twin.__wrapped__(dense.product_kernel(R, 4)).py_func for R in (2, 3)]
    assert Disk(made[0]).constants != Disk(made[1]).constants


TWO_THREADS = """
import threading
import numpy as np
from dtnn import machine
from dtnn.kernels import dense, parts
from dtnn.kernels.cache import compiling

parts.LEAST_WORK, compiled = 0, []
x, w = np.ones((64, 64), np.float32), np.ones((40, 64), np.float32)

def rank():
    with machine.threads(2):
        for _ in range(300):
            y = np.empty((40, 64), np.float32)
            dense.forward(x, w, None, y)
            assert (y == 64).all()

with compiling(lambda name, number: compiled.append(name)):
    ranks = [threading.Thread(target=rank) for _ in range(2)]
    [r.start() for r in ranks]
    [r.join() for r in ranks]
print(len(compiled))
"""


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.limit(120)
def test_two_threads_may_call_at_once_and_twins_are_kept_on_disk(tmp_path):
    environment = os.environ | {"NUMBA_NUM_THREADS": "2", "DTNN_CACHE_DIR": str(tmp_path)}
    compiled = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", TWO_THREADS], env=environment, capture_output=True, text=True, timeout=110)
        assert done.returncode == 0, done.stderr
        compiled.append(int(done.stdout))
    assert compiled[0] >= 1
    assert compiled[1] == 0
