"""Being looked at costs a training next to nothing: counted in calls, and, slowly, in time."""

import itertools
import statistics
import sys
import time

import numpy as np
import pytest

import dtnn
from dtnn.comm import Serial, run_threads
from dtnn.data import Samples
from dtnn.optim import SGD
from dtnn.records import Step, Trace
from dtnn.training import replica, tracer, train

pytestmark = pytest.mark.undisturbed  # times are compared

BATCH = 64


class NoTracer:
    """As little as there can be in the place of a `Tracer`: four calls in a step."""

    on = False

    def __init__(self, comm, net, watch, trace):
        self.comm = comm

    def wants(self, step, now):
        return False

    def begin(self, quiet=False):
        """Nothing."""

    def watcher(self, other):
        return other


def lenet5(comm, trace, size=BATCH):
    """A training of LeNet-5 that goes on for ever."""
    rng = np.random.default_rng(0)
    digits = Samples(rng.random((4 * size, 28, 28, 1), np.float32), rng.integers(0, 10, 4 * size))
    settings = dict(metrics=(), optimizer=SGD(1e-4), epochs=10**9, batch_size=size)
    return train(comm, dtnn.zoo.lenet5(), digits, trace=trace, **settings)


def without_tracer(monkeypatch, comm, trace, **settings):
    """The same with `NoTracer`, up to where its parts are made."""
    with monkeypatch.context() as patch:
        patch.setattr(replica, "Tracer", NoTracer)
        running = lenet5(comm, trace, **settings)
        for record in running:
            if isinstance(record, Step):
                return running


# ---- counted


def calls_of_steps(running, steps):
    """How many functions, of Python and of C, each of so many steps calls; and whether it was traced."""
    count, found = 0, []

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    next(record for record in running if isinstance(record, Step))
    before = sys.getprofile()
    for _ in range(steps):
        count, traced = 0, False
        sys.setprofile(note)
        for record in running:
            traced |= isinstance(record, Trace)
            if isinstance(record, Step):
                break
        sys.setprofile(before)
        found.append((count, traced))
    running.close()
    return found


def fewest(calls, traced=False):
    """A step may have more to do: begin an epoch, tell a ledger."""
    return min(count for count, was in calls if was == traced)


def test_a_step_that_is_not_traced_calls_hardly_a_function_more(monkeypatch):
    monkeypatch.setattr(tracer, "SHORTEST", 10**9)  # one step is traced, no other
    bare = fewest(calls_of_steps(without_tracer(monkeypatch, Serial(), False, size=4), 9))
    never = fewest(calls_of_steps(lenet5(Serial(), False, size=4), 9))
    default = calls_of_steps(lenet5(Serial(), True, size=4), 9)
    assert [was for _, was in default].count(True) == 1
    assert never == bare
    assert fewest(default) <= bare + 1, "a max()"


def test_a_call_more_is_seen(monkeypatch):
    """The counting would see a nap in every step."""
    right, plain = tracer.Tracer.begin, fewest(calls_of_steps(lenet5(Serial(), False, size=4), 4))

    def begin(self, quiet=False):
        time.sleep(0)
        right(self, quiet)

    monkeypatch.setattr(tracer.Tracer, "begin", begin)
    assert fewest(calls_of_steps(lenet5(Serial(), False, size=4), 4)) == plain + 2


def test_a_traced_step_calls_a_few_functions_more_for_each_layer_and_message():
    plain = fewest(calls_of_steps(lenet5(Serial(), False, size=4), 6))
    traced = calls_of_steps(lenet5(Serial(), 1, size=4), 6)
    layers = 12  # of LeNet-5, each forward and backward
    assert all(was for _, was in traced)
    assert 2 * layers < fewest(traced, True) - plain < 20 * 2 * layers


def test_a_run_that_is_looked_at_sends_no_more():
    def sent(comm, trace):
        calls_of_steps(lenet5(comm, trace, size=4), 5)
        return comm.bytes

    assert run_threads(sent, 2, False) == run_threads(sent, 2, 1)


# ---- timed


@pytest.mark.slow
@pytest.mark.limit(120)
def test_steps_take_as_long_as_without(monkeypatch):
    """Steps in turn, so that whatever else the machine does, it does to all; 2 ms more in each would be three times as long."""
    runs = {"bare": without_tracer(monkeypatch, Serial(), False)}
    runs |= {"never": lenet5(Serial(), False), "default": lenet5(Serial(), True)}

    def seconds(running, steps=10):
        begin = time.perf_counter()
        for _ in itertools.islice((record for record in running if isinstance(record, Step)), steps):
            pass
        return time.perf_counter() - begin

    for running in runs.values():
        seconds(running)
    rounds = [{name: seconds(running) for name, running in runs.items()} for _ in range(40)]
    for name in ("never", "default"):
        assert statistics.median(times[name] / times["bare"] for times in rounds) <= 1.25
