"""Running statistics: those of ranks' own batches are averaged by samples, those of all ranks' are equal at any time."""

from functools import partial

import numpy as np
import pytest

from dtnn import Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.commands import Stop
from dtnn.data import Samples, batches, shares
from dtnn.nn import BatchNorm1d, Layer, Linear
from dtnn.parallel import Accumulate, AllReduce, Gossip, LocalSGD, OutOfSync, ParameterServer, Sharded
from dtnn.records import Step
from dtnn.training import train
from dtnn.training.replica import Replica
from tests.comm.mpi_job import run_mpi

ROWS, BATCH, EPOCHS, MOMENTUM = 10, 4, 2, 0.3  # on 3 ranks 2 + 1 + 1, twice, then 1 + 1 + 0: 5, 3 and 2 samples an epoch


def rows(count=ROWS):
    rng = np.random.default_rng(5)
    return Samples((rng.standard_normal((count, 4)) * [1, 2, 3, 4] + 1).astype(np.float32), rng.integers(0, 3, count))


def network(*layers, **settings):
    return Model(*(layers or [BatchNorm1d(momentum=MOMENTUM)]), Linear(3), input_shape=(4,), dtype="float64", **settings)


def buffers(comm, model=None, stop=None, count=ROWS, **settings):
    """The running statistics after a training whose weights stay as they are."""
    model = model or network()
    settings = {"batch_size": BATCH, "epochs": EPOCHS, "optimizer": optim.SGD(0.0), "metrics": ()} | settings
    told, answer = train(comm, model, rows(count), **settings), None
    try:
        while True:
            record = told.send(answer)
            answer = Stop() if isinstance(record, Step) and record.step == stop else None
    except StopIteration:
        pass
    return {name: array.copy() for name, array in model.parameters.buffers.items()}


def by_hand(ranks, weights, servers=0, steps=99):
    """Mean and variance as each rank would have them by itself, and after each epoch their mean with the given weights."""
    data, mean, var = rows(), np.zeros(4), np.ones(4)
    for epoch in range(1, EPOCHS + 1):
        own, samples = [(mean, var)] * ranks, np.zeros(ranks)
        for indices in batches(ROWS, BATCH, 0, epoch):
            steps -= 1
            for rank, (first, count) in enumerate(shares(len(indices), ranks - servers), servers) if steps >= 0 else ():
                if count:
                    own[rank] = moved(*own[rank], data.x[indices[first : first + count]].astype(float))
                    samples[rank] += count
        parts = weights(samples) if samples.any() else np.ones(ranks) / ranks
        mean, var = (sum(part * pair[which] for part, pair in zip(parts, own)) for which in (0, 1))
    return {"batchnorm1d_1.running_mean": mean, "batchnorm1d_1.running_var": var}


def moved(mean, var, x):
    count = len(x)
    var = (1 - MOMENTUM) * var + MOMENTUM * x.var(0) * count / max(1, count - 1)
    return (1 - MOMENTUM) * mean + MOMENTUM * x.mean(0), var


def by_samples(samples):
    return samples / samples.sum()


def all_alike(samples):
    return np.ones(len(samples)) / len(samples)


def assert_close(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-12)


@pytest.mark.parametrize("strategy", [AllReduce(), Sharded(), LocalSGD(2), Gossip()], ids=repr)
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_each_ranks_own_count_by_its_samples(strategy, ranks):
    expected = by_hand(ranks, by_samples)
    for found in run_threads(partial(buffers, strategy=strategy), ranks):
        assert_close(found, expected)
    if ranks > 2:
        other = by_hand(ranks, all_alike)
        assert max(np.abs(expected[name] - other[name]).max() for name in other) > 0.01, "the shares are no test of weights"


@pytest.mark.parametrize("staleness", [0, None])
def test_a_server_without_samples_counts_nothing(staleness):
    expected = by_hand(3, by_samples, servers=1)
    for found in run_threads(partial(buffers, strategy=ParameterServer(staleness)), 3):
        assert_close(found, expected)


@pytest.mark.parametrize("stop", [1, 2, 4])
def test_a_training_that_is_stopped_within_an_epoch_counts_the_samples_it_has_used(stop):
    expected = by_hand(3, by_samples, steps=stop + 1)  # what is heard after a step ends the next one
    for found in run_threads(partial(buffers, stop=stop), 3):
        assert_close(found, expected)


def test_over_mpi():
    for found in run_mpi(__file__, "over_mpi", 3):
        assert_close(found, by_hand(3, by_samples))


def over_mpi(pool):
    return buffers(pool.checkout())


# ---- synchronised: those of the whole batch, on every rank


@pytest.mark.parametrize("strategy", [AllReduce(), Sharded(), Accumulate(1), ParameterServer()], ids=repr)
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_those_of_all_ranks_are_those_of_one(strategy, ranks):
    def job(comm, strategy=strategy):
        return buffers(comm, network(BatchNorm1d(momentum=MOMENTUM, sync=True)), strategy=strategy)

    expected = job(Serial(), AllReduce())
    for found in run_threads(job, ranks):
        assert_close(found, expected)


# ---- replicas that differ in one are noticed


class Drifting(Layer):
    """After a step a running statistic is another one on the last rank; by one bit would be forgotten in a few steps."""

    def __init__(self, here, step, layer):
        self.here, self.step, self.layer = here, step, layer

    def forward(self, x, step=None):
        if self.here and step.number == self.step:
            self.layer.running_mean[1] += 1e-3
        return x, lambda dy: dy


def steps_made(comm, changed, sync, count=1320):
    """How many steps were told before it was noticed, in an epoch of count / 4; None if it never was."""
    layer, steps = BatchNorm1d(sync=sync), 0
    model = network(layer, Drifting(comm.rank == comm.size - 1, changed, layer))
    try:
        for record in train(comm, model, rows(count), batch_size=4, metrics=()):
            steps += isinstance(record, Step)
    except OutOfSync as error:
        words = "first in the running statistic batchnorm1d_1.running_mean (hashes: ", f"rank {comm.size - 1}: "
        return steps if all(word in str(error) for word in words) else str(error)
    return None


@pytest.mark.parametrize(("changed", "noticed"), [(1, 0), (5, 9), (12, 99), (130, 199), (305, 330)])
def test_a_change_of_a_synchronised_one_is_noticed_soon(changed, noticed):
    """At the latest at the end of the epoch: they are not averaged, which would hide it."""
    assert run_threads(lambda comm: steps_made(comm, changed, sync=True), 3) == [noticed] * 3


def test_those_of_a_ranks_own_may_differ_until_they_are_averaged():
    assert run_threads(lambda comm: steps_made(comm, 5, sync=False), 3) == [None] * 3


def test_that_they_were_averaged_is_looked_at_at_the_end_of_the_epoch(monkeypatch):
    def settle(self):
        self.exchange.settle()

    def job(comm):
        steps = 0
        try:
            for record in train(comm, network(), rows(120), batch_size=4, metrics=()):
                steps += isinstance(record, Step)
        except OutOfSync as error:
            return steps, str(error)

    assert run_threads(job, 3) == [None] * 3
    monkeypatch.setattr(Replica, "settle", settle)
    for steps, text in run_threads(job, 3):
        assert steps == 30
        assert "the replicas differ, first in the running statistic batchnorm1d_1.running_mean" in text


def test_replicas_that_start_with_other_statistics_are_made_one():
    def job(comm):
        model = network(BatchNorm1d(sync=True))
        model.layers[0].running_mean[:] = comm.rank
        return buffers(comm, model)

    found = run_threads(job, 3)
    for other in found[1:]:
        assert_close(other, found[0])
