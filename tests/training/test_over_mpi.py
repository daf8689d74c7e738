"""The central promise over real MPI: P processes give the weights of one."""

import numpy as np
import pytest

from dtnn.comm import Serial
from dtnn.records import Ledger
from dtnn.training import train
from tests.comm.mpi_job import run_mpi
from tests.training.test_ranks_are_one_rank import ROWS, digits, distance, network, trained, used_in_two_epochs


@pytest.mark.limit(120)  # four ranks may compile all kernels on two cores, where the cache is cold
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_the_weights_are_those_of_one_rank(ranks):
    start = network().parameters.value
    alone, _, _ = trained(Serial())
    single, _, _ = trained(Serial(), dtype="float32", epochs=1, batch_size=5)
    results = run_mpi(__file__, "train_here", ranks, seconds=110)
    for weights, weights32, handed, _ in results:
        assert distance(weights, alone, start) < 1e-10
        assert distance(weights32, single, network("float32").parameters.value) < 1e-5  # 10 steps
        assert (handed > 0) == (ranks > 1)
    used = [index for _, _, _, indices in results for index in indices]
    assert sorted(used) == sorted(2 * list(range(ROWS)))
    assert all(indices for _, _, _, indices in results)


def train_here(pool):
    comm = pool.checkout()
    weights, _, _ = trained(comm)
    weights32, _, handed = trained(comm, dtype="float32", epochs=1, batch_size=5)
    used, steps = used_in_two_epochs(comm)
    assert steps == 10
    return weights, weights32, handed, used


def test_a_rank_that_computes_longer_is_seen_in_the_others_wait():
    waits = np.array(run_mpi(__file__, "slow_rank", 2))
    assert waits[0] > 5 * 0.02 * 0.8, "rank 0 waits for rank 1 at each of 5 steps"
    assert waits[1] < 0.25 * waits[0]


def slow_rank(pool):
    import time

    from dtnn import Model
    from dtnn.nn import Flatten, Layer, Linear

    comm = pool.checkout()

    class Slow(Layer):
        def forward(self, x, step=None):
            if comm.rank == 1:
                time.sleep(0.02)
            return x, lambda dy: dy

    model = Model(Flatten(), Slow(), Linear(10), input_shape=(8, 6, 1))
    return sum(record.wait for record in train(comm, model, digits(), batch_size=10) if isinstance(record, Ledger))


@pytest.mark.parametrize("strategy", ["AllReduce()", "Sharded()", "LocalSGD(4)", "Compressed('int8')", "ParameterServer()"])
def test_numbers_that_are_not_finite_end_all_ranks_at_the_same_step_and_name_the_layer(strategy):
    """One rank's activations leave the finite numbers at its third step."""
    for steps, text, finite in run_mpi(__file__, "spoiled", 3, strategy):
        assert steps == 2
        assert finite, "the weights are those of the step before"
        assert "step 3 left the finite numbers, first in the output of spoils_1" in text


def spoiled(pool, strategy):
    from dtnn import Model, parallel
    from dtnn.nn import Flatten, Layer, Linear
    from dtnn.records import Step
    from dtnn.training import NotFinite

    comm = pool.checkout()

    class Spoils(Layer):
        def forward(self, x, step=None):
            if comm.rank == 1 and step.number == 3:
                x = x * np.float32(np.inf)
            return x, lambda dy: dy

    model, steps = Model(Flatten(), Linear(4), Spoils(), Linear(10), input_shape=(8, 6, 1)), 0
    try:
        for record in train(comm, model, digits(), batch_size=10, epochs=2, strategy=eval(strategy, vars(parallel))):
            steps += isinstance(record, Step)
    except NotFinite as error:
        return steps, str(error), bool(np.isfinite(model.parameters.value).all())
