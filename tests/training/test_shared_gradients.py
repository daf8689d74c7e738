"""Gradients that all ranks of a host see: nothing of a training that was, or is somebody else's, gets into another."""

import copy
import os
import pickle

import numpy as np
import pytest

import dtnn
from dtnn.comm import MPI, RankFailed, Serial, rendezvous
from dtnn.comm.emulated import Emulated
from dtnn.comm.traced import Traced
from dtnn.data import Samples
from dtnn.optim import SGD
from dtnn.records import Step
from dtnn.training import train
from tests.comm.mpi_job import run_mpi
from tests.comm.test_shared_sum import quiet

pytestmark = pytest.mark.skipif(not rendezvous.POSSIBLE, reason="another processor than x86: there is no room for gradients")

STRATEGIES = [
    "AllReduce()", "AllReduce(bucket_bytes=50_000)", "AllReduce('ring')", "AllReduce(overlap=True)", "Accumulate(2)",
    "Sharded()", "LocalSGD(2)", "Compressed('int8')", "Compressed('fp16', error_feedback=False)",
]  # fmt: skip


def made(width=90):
    """More than 32 KB of gradients."""
    nn = dtnn.nn
    return dtnn.Model(nn.Flatten(), nn.Linear(width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(4), input_shape=(12, 12, 1))


def samples():
    return Samples(np.random.default_rng(0).random((44, 12, 12, 1), np.float32), np.arange(44) % 4)


def weights(comm, strategy="AllReduce()", model=None, stop=None, **settings):
    """Those of a model after two epochs; `stop(step)` may raise."""
    model, strategy = model or made(), eval(strategy, vars(dtnn.parallel))
    for record in train(comm, model, samples(), optimizer=SGD(0.1), epochs=2, batch_size=10, strategy=strategy, **settings):
        if stop and isinstance(record, Step):
            stop(record.step)
    return model.parameters.value.copy()


@pytest.mark.undisturbed
@pytest.mark.slow
@pytest.mark.limit(120)
@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("blocking", [False, True])
def test_where_gradients_lie_changes_nothing(ranks, blocking):
    """Every strategy in turn, with one model each, on a communicator that adds up in shared memory, and on one that doesn't."""
    for found in run_mpi(__file__, "all_strategies", ranks, blocking, seconds=110):
        for name, (distance, same, used) in found.items():
            assert distance < 1e-5, name
            assert same, name
            assert used, name


def all_strategies(pool, blocking):
    shares, found = quiet(pool, blocking), {}
    sends = MPI(pool.world.Dup(), None if blocking else pool.world.Dup(), blocking=blocking, crowded=True)
    for name in STRATEGIES:
        ours, theirs = weights(shares, name), weights(sends, name)
        again = weights(Traced(Emulated(shares, latency=1e-4, slow={1: 1.5})), name, keep_gradients_every=3, trace=2)
        same = np.array_equal(ours, again) or "overlap" in name  # there the library adds up
        found[name] = float(np.abs(ours - theirs).max()), same, shares._shared.works
    ordered = [weights(comm, deterministic=True) for comm in (shares, sends, shares)]
    found["deterministic"] = 0.0, all(np.array_equal(ordered[0], other) for other in ordered), True
    return found


@pytest.mark.undisturbed
def test_one_model_on_two_communicators_and_then_alone():
    for ours, pairs in run_mpi(__file__, "one_model", 2):
        assert ours
        for a, b in pairs:
            np.testing.assert_array_equal(a, b)


def one_model(pool):
    """Bit by bit what another model gives, which begins in memory of its own each time; copies have memory of their own."""
    here, mine = made(), []
    for comm in (quiet(pool), quiet(pool), Serial()):
        other = made()
        other.load_state_dict(here.state_dict())
        mine.append((weights(comm, model=other), weights(comm, model=here)))
        room = comm.size > 1
        assert room == (not here.parameters._own_memory)
        for twin in (copy.deepcopy(here), pickle.loads(pickle.dumps(here))):
            mine.append((twin.parameters.value, here.parameters.value.copy()))
            assert twin.parameters._own_memory
            assert np.shares_memory(twin.net.layers[1].weight.grad, twin.parameters.grad)
    return here.parameters._own_memory, mine


@pytest.mark.undisturbed
@pytest.mark.slow
@pytest.mark.limit(120)
@pytest.mark.parametrize("how", ["interrupt", "failure", "left"])
def test_after_a_training_that_was_cut_off_the_next_is_right(how):
    for first, *others in run_mpi(__file__, "cut_off", 2, how, seconds=100):
        for other in others:
            np.testing.assert_array_equal(first, other)


def cut_off(pool, how):
    """The same model goes on, in each step that one rank may leave; what it left must not be seen."""
    pool.crowded = False
    start, model = made().state_dict(), made()
    found = [weights(pool.checkout())]
    for step in (1, 4, 5, 7):
        comm = pool.checkout()

        def stop(now, comm=comm, step=step):
            if now == step and how == "left":
                raise StopIteration
            if now == step and comm.rank == step % 2:
                raise KeyboardInterrupt if how == "interrupt" else ValueError("on purpose")

        try:
            weights(comm, model=model, stop=stop)
        except StopIteration:
            pass
        except (KeyboardInterrupt, ValueError, RankFailed) as error:
            comm.fail(repr(error))
        model.parameters.grad[:] = 77.0
        model.load_state_dict(start)
        found.append(weights(pool.checkout(), model=model))
    return found


@pytest.mark.undisturbed
def test_a_late_write_does_not_reach_the_next_training():
    assert run_mpi(__file__, "late_write", 2) == [True, True]


def late_write(pool):
    """Rank 0 leaves a sum; rank 1, halted until then, writes into the memory of rank 0 while that trains alone."""
    comm, model = quiet(pool), made()
    weights(comm, model=model)
    rows = comm._shared.rows
    model.load_state_dict(made().state_dict())
    if comm.rank == 0:
        found = weights(Serial(), model=model, stop=lambda step: rows[0].fill(123))
        return np.array_equal(found, weights(Serial()))
    return True


@pytest.mark.undisturbed
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_that_trains_spoils_no_gradient_of_its_parent():
    assert run_mpi(__file__, "fork", 2) == [(0, True)] * 2


def fork(pool):
    comm, model = quiet(pool), made()
    weights(comm, model=model)
    model.parameters.grad[:] = comm.rank + 5
    child = os.fork()
    if child == 0:
        weights(Serial(), model=model)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return status, bool((model.parameters.grad == comm.rank + 5).all())
