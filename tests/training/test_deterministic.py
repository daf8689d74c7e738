"""Two runs give the same bits: on threads, over MPI, under every strategy; and replicas that differ are told."""

import hashlib

import numpy as np
import pytest

import dtnn
from dtnn import Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.data import Flip, Samples, Shift
from dtnn.machine import threads
from dtnn.nn import BatchNorm2d, Conv2d, Dropout, Flatten, Linear, MaxPool2d, ReLU
from dtnn.parallel import Accumulate, AllReduce, Compressed, Gossip, LocalSGD, OutOfSync, ParameterServer, Sharded
from dtnn.records import Epoch, Step
from dtnn.training import train
from tests.comm.mpi_job import run_mpi
from tests.comm.test_ordered import Whimsical

STRATEGIES = {
    "all-reduce": AllReduce(),
    "buckets": AllReduce(bucket_bytes=1000),
    "ring": AllReduce("ring"),
    "sharded": Sharded(),
    "accumulated": Accumulate(2),
    "local": LocalSGD(2),
    "gossip, ring": Gossip("ring"),
    "gossip, exponential": Gossip("exponential"),
    "gossip, complete": Gossip("complete"),
    "top_k": Compressed("top_k", keep=0.2),
    "int8": Compressed("int8"),
    "server": ParameterServer(),
    "stale server": ParameterServer(2, exact=True),
}


def images(count=50):
    rng = np.random.default_rng(0)
    return Samples(rng.integers(0, 256, (count, 8, 8, 1)).astype(np.uint8), rng.integers(0, 3, count), augment=(Flip(), Shift(1)))


def network(sync=True, seed=0):
    layers = Conv2d(5, 3), BatchNorm2d(sync=sync), ReLU(), MaxPool2d(2), Flatten(), Dropout(0.3), Linear(12), ReLU(), Linear(3)
    return Model(*layers, input_shape=(8, 8, 1), seed=seed)


def bits(comm, strategy, deterministic=True, **settings):
    """A digest of all losses, metrics, weights and running statistics of a training; 50 samples in batches of 16."""
    model, digest = network(), hashlib.sha256()
    settings = dict(optimizer=optim.Adam(0.01), validation=images(13), epochs=2, batch_size=16, trace=False) | settings
    for record in train(comm, model, images(), strategy=strategy, deterministic=deterministic, **settings):
        if isinstance(record, Step | Epoch):
            digest.update(repr(record.loss if isinstance(record, Step) else sorted(record.metrics.items())).encode())
    for name, array in sorted(model.state_dict().items()):
        digest.update(name.encode() + array.tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("name", STRATEGIES)
def test_two_runs_on_threads(name):
    first, second = (run_threads(bits, 3, STRATEGIES[name]) for _ in range(2))
    assert first == second
    assert len(set(first)) == 1
    other = run_threads(lambda comm: bits(comm, STRATEGIES[name], seed=1), 3)
    assert other != first, "the digest would not see a difference"


def test_two_runs_over_mpi_and_one_on_threads():
    """The sums on threads are the same sums."""
    on_threads = run_threads(bits, 2, AllReduce())
    assert run_mpi(__file__, "twice", 2) == [(on_threads[0], on_threads[0])] * 2


def twice(pool):
    return tuple(bits(pool.checkout(), AllReduce()) for _ in range(2))


@pytest.mark.undisturbed
@pytest.mark.slow
@pytest.mark.limit(180)
@pytest.mark.parametrize("ranks", [2, 3])
def test_two_starts_of_all_processes_under_every_strategy(ranks):
    first, second = (run_mpi(__file__, "all_strategies", ranks, seconds=80) for _ in range(2))
    assert first == second
    assert all(found == first[0] for found in first)
    for name, found in first[0].items():
        assert found == run_threads(bits, ranks, STRATEGIES[name])[0], name


def all_strategies(pool):
    return {name: bits(pool.checkout(), strategy) for name, strategy in STRATEGIES.items()}


@pytest.mark.parametrize("deterministic", [False, True])
def test_a_library_that_changes_its_order_is_not_asked(deterministic):
    """Each run begins with another order."""

    def job(comm, begin):
        whimsical = Whimsical(comm)
        whimsical.calls = begin
        return bits(whimsical, AllReduce(), deterministic, epochs=1)

    found = {run_threads(job, 3, begin)[0] for begin in (0, 100, 200)}
    assert (len(found) == 1) == deterministic


@pytest.mark.slow
@pytest.mark.limit(200)
def test_two_runs_on_two_threads_each(monkeypatch):
    monkeypatch.setattr("dtnn.kernels.parts.LEAST_WORK", 1)  # however small
    with threads(2):
        assert bits(Serial(), AllReduce()) == bits(Serial(), AllReduce())


def test_fit_does_it_too_and_says_so():
    def weights(**settings):
        model = network()
        with dtnn.Cluster(2, launcher="threads") as cluster:
            history = model.fit(*pixels(), cluster=cluster, batch_size=16, deterministic=True, show=False, **settings)
        assert history.records.of(dtnn.records.Start)[0].settings["deterministic"] is True
        return model.parameters.value.tobytes()

    assert weights() == weights()
    assert weights(seed=1) != weights()


def pixels():
    rows = images()
    return rows.x, rows.y


OVERLAP = AllReduce(overlap=True), r"deterministic=True, but AllReduce\(.*overlap=True\) leaves it to the .*; use overlap=False"
INSIDE = Accumulate(2, OVERLAP[0]), OVERLAP[1]
ASYNCHRONOUS = ParameterServer(None), r"ParameterServer\(staleness=None\) makes an update of each .*; use staleness=0"


@pytest.mark.parametrize(("strategy", "words"), [OVERLAP, INSIDE, ASYNCHRONOUS], ids=["overlap", "inside", "asynchronous"])
def test_a_strategy_that_cannot_be_repeated_is_refused_with_the_remedy(strategy, words):
    model = network(sync=False)
    before = model.parameters.value.copy()
    with pytest.raises(ValueError, match=words):
        model.fit(*pixels(), strategy=strategy, deterministic=True, show=False)
    with pytest.raises(ValueError, match=words):
        run_threads(lambda comm: list(train(comm, network(sync=False), images(), strategy=strategy, deterministic=True)), 2)
    np.testing.assert_array_equal(model.parameters.value, before)


def test_it_must_be_yes_or_no():
    with pytest.raises(TypeError, match=r"deterministic=1: give True or False"):
        network().fit(*pixels(), deterministic=1, show=False)


def spoiled(comm, strategy, at):
    """How a training ends in which one rank changes a weight behind everybody's back after a step."""
    model = network(sync=False)
    last = 0
    try:
        for record in train(comm, model, images(), strategy=strategy, deterministic=True, epochs=200, batch_size=16, metrics=()):
            if isinstance(record, Step):
                last = record.step
                if last == at and comm.rank == 1:
                    model.layers[6].weight.value[2, 3] += 1e-3
    except OutOfSync as error:
        return last, str(error)


@pytest.mark.parametrize("name", ["all-reduce", "int8"])  # others send weights, which heals such a difference
def test_replicas_that_differ_are_told_with_the_rank_and_the_parameter(name):
    """At the end of an epoch, which is 4 steps long, at the latest."""
    for last, text in run_threads(spoiled, 3, STRATEGIES[name], 5):
        assert last <= 9
        assert "replicas differ, first in linear_1.weight (hashes: ranks 0, 2: " in text
        assert "; rank 1: " in text
