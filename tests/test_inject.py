"""Faults on purpose: each shows where it should, on every launcher, and travels with the job; nothing is left behind."""

import re
import time

import numpy as np
import pytest

import dtnn
from dtnn import Cluster, Model, inject, injection
from dtnn.comm import Deadlock, RankFailed
from dtnn.comm.accidents import MessageLost
from dtnn.nn import Flatten, Layer, Linear
from dtnn.parallel import AllReduce, OutOfSync
from dtnn.records import Ledger, Note, Paused, Start

pytestmark = pytest.mark.undisturbed  # times are compared


class Working(Layer):
    """A layer that takes 10 ms to go forward and 10 back."""

    def forward(self, x, step=None):
        time.sleep(0.01)
        return x, self.backward

    def backward(self, dy):
        time.sleep(0.01)
        return dy


def network(*extra):
    return Model(Flatten(), *extra, Linear(16), Linear(10), input_shape=(28, 28, 1))


def few(count=100):
    digits = dtnn.data.mnist5k()
    return digits.x_train[::40][:count], digits.y_train[::40][:count]


def fitted(cluster, model=None, **settings):
    return (model or network(Working())).fit(*few(), cluster=cluster, batch_size=10, show=False, **settings)


def spent(history, rank, *phases):
    """Seconds of some phases on a rank."""
    return sum(getattr(told, phase) for told in history.records.of(Ledger) if told.rank == rank for phase in phases)


@pytest.mark.parametrize("overlap", [False, True])
def test_a_slow_ranks_computing_becomes_the_others_wait(cluster, overlap):
    plain = fitted(cluster, strategy=AllReduce(overlap=overlap))
    with inject.straggler(rank=1, factor=3):
        slow = fitted(cluster, strategy=AllReduce(overlap=overlap))
    least = 10 * 0.02  # seconds of work that each rank does in 10 steps
    fast, late = (spent(slow, rank, "data", "forward", "backward", "update") for rank in (0, 1))
    assert late > 2.7 * least
    assert late - fast > 1.2 * least, "rank 0 computes as fast as ever"
    assert spent(slow, 0, "wait", "transfer") > 0.9 * (late - fast), "it waits as long as rank 1 is behind"
    if not overlap:
        assert spent(slow, 0, "wait") > 0.7 * (late - fast)
        assert spent(slow, 1, "wait") < 0.5 * spent(slow, 0, "wait")
    np.testing.assert_array_equal(slow.history["loss"], plain.history["loss"])


def test_what_is_injected_is_recorded_and_told(cluster):
    with inject.straggler(1, 1.5), inject.link(latency=1e-4):
        told = fitted(cluster, network()).records
    words = ["rank 1 computes 1.5 times as long", "each message takes 0.0001 s longer"]
    assert told.last(Start).settings["injected"] == words
    assert [note.text for note in told.of(Note) if "injected" in note.text] == [f"injected: {text}" for text in words]
    told = fitted(cluster, network()).records
    assert "injected" not in told.last(Start).settings
    assert not [note for note in told.of(Note) if "injected" in note.text]


def test_it_travels_with_the_job_and_ends_with_the_with(cluster):
    with inject.straggler(0, 3.0):
        with inject.link(bandwidth=1e9):
            inner = cluster.run(lambda comm: comm.faults)
        outer = cluster.run(lambda comm: comm.faults)
    after = cluster.run(lambda comm: getattr(comm, "faults", None))
    assert outer.result() == ("rank 0 computes 3 times as long",)
    assert inner.result() == ("rank 0 computes 3 times as long", "links carry 1,000,000,000 bytes/s")
    assert after.result() is None
    assert inner.results[1] == inner.results[0]


def test_it_ends_when_the_with_is_left_by_an_error():
    with pytest.raises(ZeroDivisionError), inject.link(latency=1.0):
        1 / 0  # noqa: B018
    assert inject.affected(len, 1) is len


def test_start_and_training_without_a_cluster_are_affected():
    with inject.straggler(rank=0, factor=2):
        here = fitted(None)
        run = network(Working()).start(*few(), batch_size=10)
    run.result(30)
    for history in (here, run.history):
        assert history.records.last(Start).settings["injected"] == ["rank 0 computes 2 times as long"]
        assert 0.36 < spent(history, 0, "forward", "backward") < 2.0


def test_a_slow_link_takes_its_time(cluster):
    def seconds(comm, rank=None):
        begin = time.perf_counter()
        comm.Sendrecv(np.zeros(1000), 1 - comm.rank, np.zeros(1000), 1 - comm.rank)
        return time.perf_counter() - begin

    with inject.link(latency=0.05, bandwidth=80_000):
        run = cluster.run(seconds)
    run.result()
    assert all(0.15 <= found < 1 for found in run.results)
    with inject.link(latency=0.2, rank=1):
        run = cluster.run(lambda comm: comm.link.latency)
    run.result()
    assert run.results == [0.0, 0.2]


def test_a_part_of_the_ranks_has_the_same_network():
    def job(comm):
        part = comm.Split(0 if comm.rank else None)
        return None if part is None else (part.link.latency, part.comm.pace.factor, part.rank, part.faults == comm.faults)

    with Cluster(3, launcher="threads") as cluster, inject.straggler(2, 2.0), inject.link(latency=1e-3):
        run = cluster.run(job)
        run.result()
    assert run.results == [None, (1e-3, 1.0, 0, True), (1e-3, 2.0, 1, True)]


def test_a_pause_is_no_computing(cluster):
    """A rank of the factor 100 would sleep 50 s after a pause of half a second."""
    data = few()
    with inject.straggler(1, 100.0), inject.straggler(0, 100.0):
        run = network().start(*data, cluster=cluster, batch_size=50, epochs=2)
        run.pause()
        next(record for record in run if isinstance(record, Paused))
        time.sleep(0.5)
        began = time.perf_counter()
        run.resume()
        run.result(30)
    assert time.perf_counter() - began < 20
    assert run.state == "done"


def test_a_damaged_message_is_noticed_and_told(cluster):
    with inject.damaged(rank=1, number=5), pytest.raises(OutOfSync) as caught:
        fitted(cluster, network())
    assert "rank 1: " in str(caught.value)
    assert "linear_1.weight" in str(caught.value)
    assert fitted(cluster, network()).reason == "done"


def test_a_lost_message_is_told_and_the_next_run_is_right(cluster):
    began = time.perf_counter()
    with (
        inject.lost(rank=1, number=5, patience=0.5),
        pytest.raises(MessageLost, match=r"message 5 of rank 1 \(Allreduce, float32"),
    ):
        fitted(cluster, network())
    assert time.perf_counter() - began < 10
    assert fitted(cluster, network()).reason == "done"


@pytest.mark.parametrize("size", [2000, None])
def test_a_lost_message_of_several_under_way_is_told_and_is_no_other_mistake(cluster, size):
    strategy = AllReduce(overlap=True, bucket_bytes=size)
    with inject.lost(rank=1, number=5, patience=0.5), pytest.raises((MessageLost, RankFailed)) as caught:
        fitted(cluster, strategy=strategy)
    assert "message 5 of rank 1 (Iallreduce, float32" in str(caught.value)


def test_a_lost_message_of_an_algorithm_is_a_deadlock(cluster):
    with inject.lost(rank=1, number=5, patience=0.5), pytest.raises((Deadlock, MessageLost, RankFailed)) as caught:
        fitted(cluster, network(), strategy=AllReduce("ring"))
    if cluster.launcher == "threads":
        assert "none of them can go on" in str(caught.value)
    else:
        assert "message 5 of rank 1 (Sendrecv to rank 0, float32" in str(caught.value)
    assert fitted(cluster, network()).reason == "done"


def test_a_slow_message_can_be_interrupted(cluster):
    with inject.link(latency=60.0):
        run = cluster.run(lambda comm: comm.Barrier())
    time.sleep(0.3)
    began = time.perf_counter()
    run.interrupt()
    run.wait(10)
    assert run.state == "interrupted"
    assert time.perf_counter() - began < 3
    assert cluster.run(lambda comm: comm.Allreduce(1)).result() == 2


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: inject.straggler(factor=0.5), ValueError, ["factor=0.5", "1 or more"]),
        (lambda: inject.straggler(factor="2"), TypeError, ["factor='2'", "number"]),
        (lambda: inject.straggler(rank=-1), ValueError, ["rank=-1", "at least 0"]),
        (lambda: inject.straggler(rank=1.5), TypeError, ["rank=1.5", "whole number"]),
        (lambda: inject.link(latency=-1), ValueError, ["latency=-1", "0 or more"]),
        (lambda: inject.link(latency=float("nan")), ValueError, ["latency=nan", "0 or more"]),
        (lambda: inject.link(latency=1e300), ValueError, ["latency=1e+300", "longer than an hour", "such as 0.03"]),
        (lambda: inject.link(latency=float("inf")), ValueError, ["latency=inf", "such as 0.03"]),
        (lambda: inject.link(bandwidth=0), ValueError, ["bandwidth=0", "leave it out"]),
        (lambda: inject.link(bandwidth=1e-300), ValueError, ["bandwidth=1e-300", "at least 1 byte a second"]),
        (lambda: inject.straggler(factor=1e300), ValueError, ["factor=1e+300", "at most 10,000"]),
        (lambda: inject.lost(number=-3), ValueError, ["number=-3", "at least 0"]),
        (lambda: inject.damaged(number="x"), TypeError, ["number='x'", "whole number"]),
        (lambda: inject.link(latency=10**400), ValueError, ["latency is a whole number of 401 digits", "float"]),
        (lambda: inject.lost(patience=float("nan")), ValueError, ["patience=nan", "more than 0"]),
        (lambda: inject.lost(patience=float("inf")), ValueError, ["patience=inf", "not without end"]),
        (lambda: inject.lost(patience=-1), ValueError, ["patience=-1", "more than 0"]),
    ],
)
def test_mistakes_are_told_at_once(make, error, words):
    with pytest.raises(error, match=re.escape(words[0])) as caught:
        make()
    assert words[1] in str(caught.value)


def test_numbers_of_arrays_are_numbers():
    assert repr(inject.straggler(np.int64(1), np.float32(2))) == repr(inject.straggler(1, 2))
    assert repr(inject.lost(np.int32(1), np.uint8(3), patience=np.float16(2))) == repr(inject.lost(1, 3))


def test_injections_that_end_in_another_order_than_they_began():
    a, b = inject.straggler(1, 2), inject.link(0.001)
    a.__enter__(), b.__enter__(), a.__exit__()
    assert injection._settings(2) == [b.settings]
    b.__exit__()
    assert injection._settings(2) == []


def test_a_rank_that_there_isnt_is_told_where_the_job_begins():
    with Cluster(2, launcher="threads") as cluster, inject.straggler(rank=5):
        with pytest.raises(ValueError, match=r"slow rank=5: there are 2 ranks, numbered 0 to 1"):
            cluster.run(lambda comm: None)
        with pytest.raises(ValueError, match=r"slow rank=5: there is one rank, number 0"):
            fitted(None, network())
