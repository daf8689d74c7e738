"""`serial_equivalent` says yes where it should, and names what is broken where it isn't told."""

import numpy as np
import pytest

import dtnn.training.replica
from dtnn import Model, data, optim, zoo
from dtnn.check import serial_equivalent
from dtnn.comm import Serial
from dtnn.data import Flip, Samples
from dtnn.nn import BatchNorm1d, Conv2d, Dropout, Flatten, Layer, Linear, ReLU
from dtnn.optim import SGD
from dtnn.parallel import Accumulate, AllReduce, Exchange, LocalSGD, ParameterServer, Sharded, broadcast
from dtnn.training import train


def digits(**settings):
    rng = np.random.default_rng(3)
    return Samples(rng.standard_normal((60, 6, 6, 1)).astype(np.float32), rng.integers(0, 5, 60), **settings)


def network(*layers):
    return Model(Conv2d(2, 3), ReLU(), Flatten(), *layers, Linear(8), Linear(5), input_shape=(6, 6, 1))


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_what_is_right_is_found_right(ranks):
    model = network(Dropout(0.3), BatchNorm1d(sync=True))
    before = model.parameters.value.copy()
    found = serial_equivalent(model, digits(augment=(Flip(),)), ranks, optimizer=optim.Adam(0.01))
    assert found, str(found)
    assert found.broken == ""
    assert "agree" in str(found)
    np.testing.assert_array_equal(model.parameters.value, before)


@pytest.mark.parametrize("strategy", [AllReduce("ring"), Sharded(), Accumulate(2), ParameterServer(), LocalSGD(1)], ids=repr)
def test_strategies_that_are_right_are_found_right(strategy):
    found = serial_equivalent(network(), digits(), 3, strategy=strategy)
    assert found, str(found)


class Custom:
    """A strategy of one's own, that does something to the gradient before it is summed."""

    def __init__(self, change):
        self.change = change

    def begin(self, comm, parameters, optimizer):
        return Changed(self, comm, parameters, optimizer)


class Changed(Exchange):
    def combine(self, tail, count, total, progress):
        self.trained[1][:] *= self.strategy.change(self.comm, count, total)
        return AllReduce().reduce(self.comm, self.parameters, tail)


class SharedKey(Layer):
    """Dropout with the same mask on all ranks."""

    def forward(self, x, step=None):
        mask = np.random.default_rng(step.number).integers(0, 2, x.shape).astype(x.dtype)
        return x * mask, lambda dy: dy * mask


class Backward(Layer):
    """Its backward divides by the rank's own number of samples."""

    def forward(self, x, step=None):
        return x, lambda dy: dy / max(1, x.shape[-1])


def mean(comm, count, total):
    return 1 / comm.size


def each_rank_weighs_the_same(comm, count, total):
    return total / max(1, count) / comm.size


@pytest.mark.parametrize(
    ("model", "strategy", "broken", "words"),
    [
        (network(), Custom(mean), "sum", "a step is 0.25 times as long"),
        (network(), Custom(each_rank_weighs_the_same), "shares", "each sample must weigh the same"),
        (network(), Custom(lambda comm, count, total: comm.rank), "sum", "how the strategy sums"),
        (network(SharedKey()), AllReduce(), "layer", "the output of sharedkey_1"),
        (network(BatchNorm1d()), AllReduce(), "layer", "sync=True"),
        (network(Backward()), AllReduce(), "gradient", "conv2d_1"),
        (network(), AllReduce(lambda comm, array: None), "sum", "the replicas differ"),
        (network(), LocalSGD(2), "later steps", "left apart"),
    ],
)
def test_what_is_broken_is_named(model, strategy, broken, words):
    found = serial_equivalent(model, digits(), 4, strategy=strategy)
    assert not found
    assert found.broken == broken, str(found)
    assert words in str(found)


def test_no_broadcast(monkeypatch):
    monkeypatch.setitem(dtnn.training.train.__globals__, "broadcast", lambda comm, parameters: None)
    found = serial_equivalent(network(), digits(), 3)
    assert found.broken == "start"
    assert "rank 1 does not begin" in str(found)


def test_a_wrong_ranks_shard(monkeypatch):
    right = dtnn.training.replica.shares
    monkeypatch.setattr(dtnn.training.replica, "shares", lambda count, size: right(count, size)[:1] + right(count, size)[:-1])
    found = serial_equivalent(network(), digits(), 2)
    assert found.broken == "samples"
    assert "2 times" in str(found)


# ---- trainings that do nothing, or nothing together


def nobody_trains(comm, model, rows, **settings):
    yield from ()


def only_rank_0_trains(comm, model, rows, **settings):
    broadcast(comm, model.parameters)
    if comm.rank == 0:
        yield from train(Serial(), model, rows, **settings)


def everybody_trains_alone(comm, model, rows, **settings):
    broadcast(comm, model.parameters)
    yield from train(Serial(), model, rows, **settings)


@pytest.mark.parametrize(
    ("loop", "broken"), [(nobody_trains, "training"), (only_rank_0_trains, "sum"), (everybody_trains_alone, "samples")]
)
def test_ranks_that_do_nothing_together_do_not_pass(loop, broken):
    found = serial_equivalent(zoo.mlp(), data.mnist5k(), ranks=2, train=loop)
    assert not found
    assert found.broken == broken


def test_a_rate_of_zero_proves_nothing():
    assert not serial_equivalent(zoo.mlp(), data.mnist5k(), ranks=2, optimizer=SGD(0.0))
