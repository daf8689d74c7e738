"""Replicas that are no longer equal are noticed while an epoch goes on, not only at its end."""

import numpy as np
import pytest

from dtnn import Model
from dtnn.comm import run_threads
from dtnn.nn import Layer, Linear
from dtnn.optim import SGD
from dtnn.parallel import AllReduce, Compressed, Gossip, LocalSGD, OutOfSync, ParameterServer, Sharded
from dtnn.records import Step
from dtnn.training import train
from tests.comm.mpi_job import run_mpi
from tests.training.test_train import rows

SLOW = SGD(1e-6)


class Drifting(Layer):
    """From a step on its weights are changed on one rank, by one bit."""

    def __init__(self, here, step, layer):
        self.here, self.step, self.layer = here, step, layer

    def forward(self, x, step=None):
        if self.here and step.number == self.step:
            value = self.layer.weight.value
            value[1, 2] = np.nextafter(value[1, 2], np.float32(9))
        return x, lambda dy: dy


def steps_made(comm, changed, strategy=AllReduce()):
    """How many steps were told before it was noticed, in an epoch of 300; None if it never was."""
    layer, steps = Linear(4), 0
    model = Model(layer, Drifting(comm.rank == comm.size - 1, changed, layer), Linear(3), input_shape=(4,))
    try:
        for record in train(comm, model, rows(1200), batch_size=4, strategy=strategy, optimizer=SLOW):
            steps += isinstance(record, Step)
    except OutOfSync as error:
        return steps if "linear_1.weight" in str(error) and f"rank {comm.size - 1}: " in str(error) else str(error)
    return None


@pytest.mark.parametrize(("changed", "noticed"), [(1, 0), (5, 9), (12, 99), (130, 199)])
def test_a_changed_bit_is_noticed_soon(changed, noticed):
    assert run_threads(lambda comm: steps_made(comm, changed), 3) == [noticed] * 3


def test_a_changed_bit_is_noticed_over_mpi():
    assert run_mpi(__file__, "over_mpi", 2) == [9, 9]


def over_mpi(pool):
    return steps_made(pool.checkout(), 5)


@pytest.mark.parametrize("strategy", [AllReduce("ring"), Compressed("top_k", keep=0.5)], ids=repr)
def test_other_strategies_whose_replicas_are_equal(strategy):
    assert run_threads(lambda comm: steps_made(comm, 12, strategy), 3) == [99] * 3


def test_sharded_weights_are_those_of_their_owner():
    """What another rank wrote into its copy is gone with the next step."""
    assert run_threads(lambda comm: steps_made(comm, 12, Sharded()), 3) == [None] * 3


@pytest.mark.parametrize(
    "strategy", [LocalSGD(7), Gossip("ring"), ParameterServer(2, exact=True), ParameterServer(2), ParameterServer(None)], ids=repr
)
def test_replicas_that_may_differ_are_not_compared(strategy):
    def job(comm):
        model = Model(Linear(4), Linear(3), input_shape=(4,))
        return sum(isinstance(r, Step) for r in train(comm, model, rows(440), batch_size=4, strategy=strategy))

    assert run_threads(job, 3) == [110] * 3


def test_a_wrong_sum_of_ones_own_is_noticed_after_the_first_step():
    """Even if it was right when it was tried."""

    def only_own(comm, array):
        comm.Allreduce(array)
        if tried.count(comm.rank) == 2:
            array *= comm.rank + 1
        tried.append(comm.rank)

    tried = []

    def job(comm):
        model = Model(Linear(3), input_shape=(4,))
        with pytest.raises(OutOfSync):
            list(train(comm, model, rows(40), batch_size=4, strategy=AllReduce(only_own)))
        return model.steps

    assert run_threads(job, 2) == [0, 0]
