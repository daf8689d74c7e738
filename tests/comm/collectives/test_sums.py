"""Every algorithm sums right, alike on all ranks, with the messages and bytes that its formula says."""

import functools
import inspect
import platform
import threading
from functools import partial

import numpy as np
import pytest

from dtnn.comm import Serial, collectives, cost, run_threads
from dtnn.comm.collectives.flat_sum import segments
from dtnn.comm.traced import Message, Traced
from tests.comm.collectives.virtual_time import VirtualTime
from tests.comm.mpi_job import run_mpi

NAMES = [name for name in collectives.ALGORITHMS if name not in ("native", "in_float64")]  # which show no messages
algorithms = pytest.mark.parametrize("name", NAMES)
any_ranks = pytest.mark.parametrize("ranks", range(2, 10))


def values(rank, size, dtype=np.float32):
    """Numbers over 12 decades, so that each order of summation gives other bits."""
    rng = np.random.default_rng([rank, size])
    return (rng.standard_normal(size) * 10.0 ** rng.uniform(-6, 6, size)).astype(dtype)


@any_ranks
@pytest.mark.parametrize("name", collectives.ALGORITHMS)
def test_sum_is_right_and_has_the_same_bits_on_all_ranks(name, ranks):  # case 29
    algorithm = getattr(collectives, name)
    for size in (0, 1, ranks - 1, ranks + 1, 1003):

        def job(comm, size=size):
            array = values(comm.rank, size)
            algorithm(comm, array)
            return array

        results = run_threads(job, ranks)
        parts = np.array([values(rank, size, np.float64) for rank in range(ranks)]).astype(np.float32).astype(np.float64)
        bound = np.abs(parts).sum(axis=0) * ranks * 2.0**-24
        assert (np.abs(results[0] - parts.sum(axis=0)) <= bound).all(), f"{size} numbers"
        for result in results[1:]:
            np.testing.assert_array_equal(result.view(np.uint32), results[0].view(np.uint32), f"{size} numbers")


CANCELLING = [1e8, 1, -1e8, 1]


def sum_of_cancelling(comm, algorithm, dtype=np.float32):
    """What each rank gets for the sum of four numbers of which two cancel."""
    array = np.array([CANCELLING[comm.rank]], dtype)
    algorithm(comm, array)
    return array


def test_the_order_of_summation_shows_where_numbers_cancel():
    """Case 29: the same bits on all ranks, one of 0, 1, 2; which one is the algorithm's own; exactly 2 in double precision."""
    found = {}
    for name in collectives.ALGORITHMS:
        algorithm = getattr(collectives, name)
        results = [float(array[0]) for array in run_threads(sum_of_cancelling, 4, algorithm)]
        assert len(set(results)) == 1, name
        found[name] = results[0]
        for wide in (partial(collectives.in_float64, algorithm=algorithm), algorithm):
            dtype = np.float64 if wide is algorithm else np.float32
            assert [float(array[0]) for array in run_threads(sum_of_cancelling, 4, wide, dtype)] == [2.0] * 4, name
    print("1e8 + 1 - 1e8 + 1 in float32:", found)
    assert set(found.values()) <= {0.0, 1.0, 2.0}
    assert len(set(found.values())) > 1, "orders differ"
    assert found["in_float64"] == 2.0


def test_the_order_of_summation_over_mpi():
    """Case 29 over MPI."""
    ranks = run_mpi(__file__, "cancel", 4)
    print("1e8 + 1 - 1e8 + 1 in float32 over MPI:", ranks[0])
    assert ranks == [ranks[0]] * 4
    assert set(ranks[0].values()) <= {0.0, 1.0, 2.0}
    assert ranks[0]["in_float64"] == 2.0


def cancel(pool):
    comm = pool.checkout()
    return {name: float(sum_of_cancelling(comm, getattr(collectives, name))[0]) for name in collectives.ALGORITHMS}


def test_double_precision_is_within_one_rounding():
    def job(comm):
        array = values(comm.rank, 1003)
        collectives.in_float64(comm, array)
        return array

    exact = sum(values(rank, 1003).astype(np.float64) for rank in range(5))
    for result in run_threads(job, 5):
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, exact.astype(np.float32))


@algorithms
def test_long_vector(name):
    algorithm = getattr(collectives, name)

    def job(comm):
        array = np.arange(1_000_003, dtype=np.int64) * (comm.rank + 1)
        algorithm(comm, array)
        return (array == np.arange(1_000_003) * 6).all()

    assert run_threads(job, 3) == [True, True, True]


@algorithms
def test_any_layout_and_type(name):  # case 20
    algorithm = getattr(collectives, name)

    def job(comm):
        x = np.arange(12).reshape(3, 4)
        array = (x * (comm.rank + 1)).T
        assert algorithm(comm, array) is None
        np.testing.assert_array_equal(array, 6 * x.T)
        strided = np.ones((4, 6), np.float16)
        algorithm(comm, strided[:, ::2])
        np.testing.assert_array_equal(strided, [[3, 1, 3, 1, 3, 1]] * 4)

    run_threads(job, 3)


@pytest.mark.parametrize("name", collectives.ALGORITHMS)
def test_one_rank_changes_nothing_and_sends_nothing(name):
    traced, array = Traced(Serial()), np.arange(5.0)
    getattr(collectives, name)(traced, array)
    np.testing.assert_array_equal(array, np.arange(5.0))
    assert not [note for note in traced.notes if isinstance(note, Message)]


EXTRA = {"segmented_ring": [64], "hierarchical": [3]}  # bytes a segment; ranks a node


def predicted(name, ranks, array):
    extra = {"segmented_ring": [segments(-(-array.size // ranks), array.itemsize, 64)]}.get(name, EXTRA.get(name, []))
    return getattr(cost, name)(ranks, array.nbytes, *extra)


def run(name, comm, array):
    getattr(collectives, name)(comm, array, *EXTRA.get(name, []))


@any_ranks
@algorithms
def test_messages_and_bytes_are_those_of_the_formula(name, ranks):
    for size in (0, 1, ranks - 1, 1003):

        def job(comm, size=size):
            traced = Traced(comm)
            run(name, traced, np.ones(size, np.float32))
            return [note for note in traced.notes if isinstance(note, Message)]

        sent = [message for messages in run_threads(job, ranks) for message in messages]
        right = predicted(name, ranks, np.ones(size, np.float32))
        assert (len(sent), sum(message.bytes for message in sent)) == (right.messages, right.bytes), f"{size} numbers"


@any_ranks
@algorithms
def test_time_is_that_of_the_formula(name, ranks):
    """On a clock that only messages and sums move: alpha = 1000, a byte sent = 1, a byte added = 0.3."""
    array = np.ones(9 * 8 * 7 * 5, np.float32)  # every number of ranks up to 10 shares it evenly

    def job(comm):
        timed = VirtualTime(comm, alpha=1000.0, beta=1.0, gamma=0.3)
        numbers = timed.numbers(array.copy())
        run(name, timed, numbers)
        assert (numbers == comm.size).all()
        return timed.now

    right = predicted(name, ranks, array).seconds(1000.0, 1.0, 0.3)
    if name == "hierarchical" and ranks % 3:
        assert max(run_threads(job, ranks)) <= right  # the last node is smaller, and may be done earlier
    else:
        assert max(run_threads(job, ranks)) == pytest.approx(right)


@pytest.mark.parametrize("hosts", ["aabb", "abab", "abcabca", "cbaabc", "aaab", "abcd"])
def test_nodes_are_found_once_whatever_the_order_of_the_hosts(hosts, monkeypatch):
    """Ranks that are told that they are on different hosts: only one rank of each talks to another host."""
    monkeypatch.setattr(platform, "node", lambda: hosts[int(threading.current_thread().name.removeprefix("rank "))])

    def job(comm):
        sent, traced = [], Traced(comm)
        for _ in range(3):
            array = values(comm.rank, 1003).astype(np.float64)
            collectives.hierarchical(traced, array)
            sent.append([note for note in traced.notes if isinstance(note, Message)])
            traced.notes.clear()
        return sent, array

    found = run_threads(job, len(hosts))
    right = sum(values(rank, 1003).astype(np.float64) for rank in range(len(hosts)))
    firsts = {hosts.index(host) for host in hosts}
    for _, array in found:
        np.testing.assert_allclose(array, right, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(array, found[0][1])
    first, second, third = ([message for sent, _ in found for message in sent[call]] for call in range(3))
    extra = len(hosts) * (len(hosts) - 1)  # of finding out, on a ring
    assert len(first) - extra == len(second) == len(third)
    nodes = len(firsts)
    assert len(second) == cost.rabenseifner(nodes, 8).messages + 2 * (len(hosts) - nodes)
    for message in second:
        assert hosts[message.source] == hosts[message.dest] or {message.source, message.dest} <= firsts


LONG = 1_000_003


@functools.cache
def long_values(rank):
    return values(rank, LONG)


@pytest.mark.slow
@pytest.mark.limit(300)
@any_ranks
@pytest.mark.parametrize("name", collectives.ALGORITHMS)
def test_long_sums_over_twelve_decades_have_the_same_bits_on_all_ranks(name, ranks):  # case 29
    def job(comm):
        array = long_values(comm.rank).copy()
        getattr(collectives, name)(comm, array)
        return array

    results = run_threads(job, ranks)
    exact, most = np.zeros(LONG), np.zeros(LONG)
    for rank in range(ranks):
        exact += long_values(rank)
        most += np.abs(long_values(rank))
    assert (np.abs(results[0] - exact) <= most * ranks * 2.0**-24).all()
    for result in results[1:]:
        np.testing.assert_array_equal(result.view(np.uint32), results[0].view(np.uint32))


def test_ring_talks_to_neighbours_only():
    def job(comm):
        traced = Traced(comm)
        collectives.ring(traced, np.ones(20))
        return {(note.source, note.dest) for note in traced.notes if isinstance(note, Message)}

    assert run_threads(job, 5) == [{(rank, (rank + 1) % 5)} for rank in range(5)]


def test_long_vectors_want_other_algorithms_than_short_ones():
    """What a class is to find out: few messages win for few bytes, few bytes a message for many; and nothing beats the bound."""
    network = {"alpha": 1e-5, "beta": 1e-9, "gamma": 2e-10}
    short, long = ({name: cost_of(name, 16, size).seconds(**network) for name in NAMES} for size in (1e2, 1e8))
    assert min(short, key=short.get) == "recursive_doubling"
    assert min(long, key=long.get) == "rabenseifner"
    assert long["ring"] < long["tree"]
    assert short["tree"] < short["ring"]
    for ranks in range(2, 20):
        bound = cost.lower_bound(ranks, 1e6).seconds(**network)
        assert all(cost_of(name, ranks, 1e6).seconds(**network) >= bound * 0.999999 for name in NAMES)


def cost_of(name, ranks, size):
    return getattr(cost, name)(ranks, size, *([4] if name in EXTRA else []))


def test_every_algorithm_has_formula_and_source():
    for name in NAMES:
        assert "alpha" in inspect.getdoc(getattr(collectives, name))
        assert callable(getattr(cost, name))


@pytest.mark.parametrize(
    ("algorithm", "wrong", "error", "text"),
    [
        ("torus", {"rows": 4}, ValueError, r"rows=4 don't divide the 6 ranks; give one of 1, 2, 3, 6"),
        ("torus", {"rows": 0}, ValueError, "rows=0: give a whole number of at least 1"),
        ("hierarchical", {"ranks_per_node": 0}, ValueError, "ranks_per_node=0: give a whole number of at least 1"),
        ("hierarchical", {"ranks_per_node": 1.5}, TypeError, r"ranks_per_node=1\.5: give a whole number"),
    ],
)
def test_a_shape_that_ranks_cannot_have_is_told_before_anything_is_sent(algorithm, wrong, error, text):
    def job(comm):
        traced = Traced(comm)
        with pytest.raises(error, match=text):
            getattr(collectives, algorithm)(traced, np.ones(6), **wrong)
        return len(traced.notes)

    assert run_threads(job, 6) == [0] * 6


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_what_has_no_sum_is_refused_by_all_alike(name, ranks):
    """As by the communicators' own sum."""

    def job(comm):
        for array, error, text in (
            (np.array([True, False]), TypeError, "booleans have no sum here"),
            (np.array(["a"]), TypeError, "communicators carry numbers, not dtype <U1"),
            ([1.0, 2.0], TypeError, "communicators carry NumPy arrays, not list"),
            (np.broadcast_to(np.ones(1), 3), ValueError, r"the array of shape \(3,\) is read-only"),
        ):
            with pytest.raises(error, match=text):
                getattr(collectives, name)(comm, array)

    run_threads(job, ranks)


def test_no_segment_has_more_bytes_than_were_asked_for():
    def job(comm):
        traced = Traced(comm)
        collectives.segmented_ring(traced, np.ones(10, np.float32), segment_bytes=10)
        return max(note.bytes for note in traced.notes[:5] if isinstance(note, Message))

    assert run_threads(job, 2) == [8, 8]
