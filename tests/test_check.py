"""`serial_equivalent` says yes where it should, and names what is broken where it isn't told."""

from functools import partial

import numpy as np
import pytest

import dtnn.training.replica
from dtnn import Model, data, optim, zoo
from dtnn.check import serial_equivalent
from dtnn.comm import Serial
from dtnn.data import Flip, Samples
from dtnn.nn import BatchNorm1d, Conv2d, Dropout, Flatten, Layer, Linear, Pass, ReLU
from dtnn.optim import SGD
from dtnn.parallel import Accumulate, AllReduce, Exchange, LocalSGD, ParameterServer, Sharded, broadcast
from dtnn.training import train
from dtnn.training.replica import Replica


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
    assert str(found).startswith("1 rank and one agree" if ranks == 1 else f"{ranks} ranks and one agree")
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
        (network(), AllReduce(lambda comm, array: None), "sum", "all were left as they were"),
        (network(), AllReduce(lambda comm, array: None, checked=False), "sum", "the replicas differ"),
        (network(), LocalSGD(2), "later steps", "left apart"),
    ],
)
def test_what_is_broken_is_named(model, strategy, broken, words):
    found = serial_equivalent(model, digits(), 4, strategy=strategy)
    assert not found
    assert found.broken == broken, str(found)
    assert words in str(found)


# ---- bugs in dtnn's own training, which `serial_equivalent` is not told of


def no_broadcast(patch):
    patch.setitem(dtnn.training.train.__globals__, "broadcast", lambda comm, parameters: None)


def mean_for_sum(patch):
    right = AllReduce.reduce

    def reduce(self, comm, parameters, tail=0):
        handed = right(self, comm, parameters, tail)
        parameters.grad[: parameters.trainable] /= comm.size
        return handed

    patch.setattr(AllReduce, "reduce", reduce)


def same_dropout_on_all_ranks(patch):
    right = Pass.begin

    def begin(self, *args, **more):
        right(self, *args, **more)
        self.place[2] = 0  # the batch's first sample, on every rank

    patch.setattr(Pass, "begin", begin)


def each_rank_divides_by_its_own_samples(patch):
    right = Replica.gradients

    def gradients(self, indices, first, total, *args, **more):
        loss, size = self.loss, self.comm.size
        self.loss = lambda outputs, targets, weight: loss(outputs, targets, size * max(1, len(indices)))
        try:
            return right(self, indices, first, total, *args, **more)
        finally:
            self.loss = loss

    patch.setattr(Replica, "gradients", gradients)


def statistics_of_each_rank(patch):
    right = BatchNorm1d._statistics
    patch.setattr(BatchNorm1d, "_statistics", lambda self, v, step, *args: right(self, v, Pass(0), *args))
    statistics_summed_forward_only(patch)


def statistics_summed_forward_only(patch):
    right = BatchNorm1d._gradient

    def gradient(self, known, z, masked, by_z, apart, d, o, count, step, zero):
        right(self, known, z, masked, by_z, apart, d, o, max(1, d.shape[1]), Pass(0), zero)

    patch.setattr(BatchNorm1d, "_gradient", gradient)


def the_share_of_another_rank(patch):
    right = dtnn.training.replica.shares
    patch.setattr(dtnn.training.replica, "shares", lambda count, size: right(count, size)[:1] + right(count, size)[:-1])


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize(
    ("bug", "broken", "words"),
    [
        (no_broadcast, "start", "rank 1 does not begin with rank 0's weights"),
        (mean_for_sum, "sum", "to sum gradients over the ranks, no mean"),
        (same_dropout_on_all_ranks, "layer", "the output of dropout_1"),
        (each_rank_divides_by_its_own_samples, "shares", "each sample must weigh the same"),
        (statistics_of_each_rank, "layer", "the output of batchnorm1d_1"),
        (statistics_summed_forward_only, "gradient", "of conv2d_1"),
        (the_share_of_another_rank, "samples", "2 times"),
    ],
)
def test_a_bug_is_found_and_its_ingredient_named(monkeypatch, bug, broken, words, ranks):
    whole = partial(network, BatchNorm1d(sync=True), Dropout(0.3))
    assert serial_equivalent(whole(), digits(), ranks)
    bug(monkeypatch)
    found = serial_equivalent(whole(), digits(), ranks)
    assert not found
    assert found.broken == broken, str(found)
    assert words in str(found)


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
