"""What each strategy must be equal to: whole trainings in float64, with uneven and empty shares, on threads and over MPI."""

import functools
from functools import partial

import numpy as np
import pytest

from dtnn import optim
from dtnn.comm import Serial, run_threads
from dtnn.parallel import Accumulate, AllReduce, Compressed, Gossip, LocalSGD, ParameterServer, Sharded
from dtnn.records import Epoch, Step
from tests.comm.mpi_job import run_mpi
from tests.training.test_ranks_are_one_rank import distance, network, trained

MOMENTUM = optim.SGD(0.05, momentum=0.9, nesterov=True, weight_decay=0.01)
LAYERWISE = [optim.LARS(0.5), optim.LAMB(0.01)]
OTHERS = [optim.Adam(0.01), optim.AdamW(0.01), optim.Nadam(0.01), optim.RMSProp(0.01, momentum=0.9), optim.Adagrad(0.05)]
CLIPPED = [optim.SGD(0.05, momentum=0.9, clip_norm=0.5), optim.LAMB(0.01, clip_norm=0.5)]

# (strategy, optimizers): with these it gives the weights of one rank. 50 samples in batches of 16, the last of 2.
EQUAL = {
    "accumulate": (Accumulate(3), [MOMENTUM, optim.Adam(0.01)]),
    "accumulate_sharded": (Accumulate(2, Sharded()), [MOMENTUM]),
    "sharded": (Sharded(), [MOMENTUM, *OTHERS, *LAYERWISE, *CLIPPED]),
    "local_sgd_of_1": (LocalSGD(1), [optim.SGD(0.05), MOMENTUM]),
    "post_local_before": (LocalSGD(4, after=9), [MOMENTUM, optim.Adam(0.01)]),
    "gossip_with_all": (Gossip("complete"), [optim.SGD(0.05), MOMENTUM]),
    "top_k_of_all": (Compressed("top_k", keep=1), [MOMENTUM]),
    "server": (ParameterServer(), [MOMENTUM, optim.Adam(0.01), *LAYERWISE, *CLIPPED]),
}
CASES = [
    (strategy, optimizer, ranks)
    for strategy, optimizers in EQUAL.values()
    for optimizer in optimizers
    for ranks in (1, 2, 3, 4)
    if ranks > 1 or not isinstance(strategy, ParameterServer)  # which refuses one rank
]
DIFFERENT = [LocalSGD(2), LocalSGD(3, after=1), Gossip("ring"), Gossip("exponential"), Compressed("top_k", keep=0.1)]
DIFFERENT += [Compressed("int8"), Compressed("fp16"), Compressed("sign", error_feedback=False), ParameterServer(1, exact=True)]


@functools.cache
def alone(optimizer):
    return trained(Serial(), optimizer=optimizer)


def check_equal(results, optimizer):
    start, (weights, records, _) = network().parameters.value, alone(optimizer)
    for found, told, handed in results:
        assert distance(found, weights, start) < 1e-10
        assert len(results) == 1 or handed > 0
        losses = [[r.loss for r in kept if isinstance(r, Step)] for kept in (records, told)]
        np.testing.assert_allclose(*losses, rtol=1e-8)
    assert len({found.tobytes() for found, _, _ in results}) == 1, "replicas differ"


@pytest.mark.parametrize(("strategy", "optimizer", "ranks"), CASES, ids=repr)
def test_the_weights_are_those_of_one_rank(strategy, optimizer, ranks):
    check_equal(run_threads(partial(trained, strategy=strategy, optimizer=optimizer), ranks), optimizer)


@pytest.mark.parametrize("strategy", DIFFERENT, ids=repr)
def test_other_settings_give_other_weights_equal_on_all_ranks_at_the_end(strategy):
    """The comparison above can fail; and at the end of an epoch there is one model, which learned."""
    start = network().parameters.value
    results = run_threads(partial(trained, strategy=strategy, epochs=5), 4)
    weights = trained(Serial(), epochs=5)[0]
    assert 1e-6 < distance(results[0][0], weights, start) < 3
    assert len({found.tobytes() for found, _, _ in results}) == 1
    for _, records, handed in results:
        epochs = [record.metrics["loss"] for record in records if isinstance(record, Epoch)]
        assert epochs[-1] < epochs[0]
        assert handed > 0
    told = [[r.loss for r in records if isinstance(r, Step)] for _, records, _ in results]
    assert told[0] == told[1] == told[2], "all ranks tell the same loss"


@pytest.mark.parametrize("strategy", [LocalSGD(3), Gossip("ring"), Gossip("exponential")], ids=repr)
@pytest.mark.parametrize("optimizer", [MOMENTUM, optim.Adam(0.01)], ids=repr)
def test_on_one_rank_there_is_nobody_to_differ_from(strategy, optimizer):
    check_equal([trained(Serial(), strategy=strategy, optimizer=optimizer)], optimizer)


@pytest.mark.limit(120)
def test_over_mpi():
    for name, (_, optimizers) in EQUAL.items():
        check_equal([found[name] for found in over_mpi()], optimizers[0])
    for strategy in DIFFERENT:
        threads = run_threads(partial(trained, strategy=strategy), 3)
        for found in over_mpi():
            np.testing.assert_allclose(found[repr(strategy)][0], threads[0][0], rtol=1e-7, atol=1e-9)


@functools.cache
def over_mpi():
    return run_mpi(__file__, "train_all", 3, seconds=110)


def train_all(pool):
    comm, found = pool.checkout(), {}
    for name, (strategy, optimizers) in EQUAL.items():
        found[name] = *trained(comm, strategy=strategy, optimizer=optimizers[0])[:2], comm.bytes
    for strategy in DIFFERENT:
        found[repr(strategy)] = trained(comm, strategy=strategy)
    return found


def test_all_reduce_is_what_they_are_compared_with():
    check_equal(run_threads(partial(trained, strategy=AllReduce("ring"), optimizer=MOMENTUM), 3), MOMENTUM)
