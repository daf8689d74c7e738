"""What sums are made of: right, to the bit, with the messages, the bytes and the time that their formulas say."""

import inspect

import numpy as np
import pytest

from dtnn.comm import Serial, collectives, cost, run_threads
from dtnn.comm.collectives import shares
from dtnn.comm.collectives.flat_sum import segments
from dtnn.comm.traced import Traced
from dtnn.records import Message
from tests.comm.collectives.test_sums import values
from tests.comm.collectives.virtual_time import VirtualTime
from tests.comm.mpi_job import run_mpi

BROADCASTS = ["tree_broadcast", "scatter_broadcast", "chain_broadcast"]
REDUCTIONS = ["tree_reduce", "gather_reduce"]
RINGS = ["ring_reduce_scatter", "ring_all_gather"]  # which have no root
NAMES = [*BROADCASTS, *REDUCTIONS, "tree_scatter", "tree_gather", *RINGS]
EXTRA = {"chain_broadcast": {"segment_bytes": 80}}
any_ranks = pytest.mark.parametrize("ranks", range(1, 10))
several = pytest.mark.parametrize("ranks", range(2, 10))


def lengths(ranks):
    return sorted({0, 1, ranks - 1, ranks + 1, 1003})


def run(name, comm, array, root=0):
    place = {} if name in (*RINGS, "ring") else {"root": root}
    return getattr(collectives, name)(comm, array, **place, **EXTRA.get(name, {}))


def results(name, ranks, size, root=0, dtype=np.float32):
    """What each rank has at the end."""

    def job(comm):
        array = values(comm.rank, size, dtype)
        assert run(name, comm, array, root) is None
        return array

    return run_threads(job, ranks)


def bits(array):
    return array.view(np.uint32)


@any_ranks
@pytest.mark.parametrize("name", BROADCASTS)
def test_all_have_the_bits_of_root(name, ranks):
    for size in lengths(ranks):
        for root in range(ranks):
            for found in results(name, ranks, size, root):
                np.testing.assert_array_equal(bits(found), bits(values(root, size)), f"{size} numbers from rank {root}")


@any_ranks
@pytest.mark.parametrize("name", REDUCTIONS)
def test_root_has_the_sum(name, ranks):
    for size in lengths(ranks):
        parts = np.array([values(rank, size) for rank in range(ranks)]).astype(np.float64)
        bound = np.abs(parts).sum(axis=0) * ranks * 2.0**-24
        for root in range(ranks):
            found = results(name, ranks, size, root)[root]
            assert (np.abs(found - parts.sum(axis=0)) <= bound).all(), f"{size} numbers to rank {root}"


@any_ranks
def test_each_rank_has_the_sum_of_its_share(ranks):
    for size in lengths(ranks):
        parts = np.array([values(rank, size) for rank in range(ranks)]).astype(np.float64)
        bound = np.abs(parts).sum(axis=0) * ranks * 2.0**-24
        scattered = results("ring_reduce_scatter", ranks, size)
        wrong = np.abs(np.array(scattered) - parts.sum(axis=0)) > bound
        for rank in range(ranks):
            assert not shares(wrong[rank], ranks)[rank].any(), f"{size} numbers on rank {rank}"
        together = np.concatenate(
            [shares(found, ranks)[r] for r, found in enumerate(results("ring_reduce_scatter", ranks, size))]
        )
        for found in results("ring", ranks, size):
            np.testing.assert_array_equal(bits(found), bits(together), "the ring's first half")


@any_ranks
def test_all_have_everybodys_share(ranks):
    for size in lengths(ranks):
        right = np.concatenate([shares(values(rank, size), ranks)[rank] for rank in range(ranks)])
        for found in results("ring_all_gather", ranks, size):
            np.testing.assert_array_equal(bits(found), bits(right), f"{size} numbers")


@any_ranks
def test_shares_go_out_and_come_back(ranks):
    for size in lengths(ranks):
        for root in range(ranks):
            scattered, gathered = (results(name, ranks, size, root) for name in ("tree_scatter", "tree_gather"))
            for place in range(ranks):
                rank = (root + place) % ranks
                own = shares(scattered[rank], ranks)[place]
                np.testing.assert_array_equal(bits(own), bits(shares(values(root, size), ranks)[place]))
                back = shares(gathered[root], ranks)[place]
                np.testing.assert_array_equal(bits(back), bits(shares(values(rank, size), ranks)[place]))


@pytest.mark.parametrize("name", NAMES)
def test_any_layout_and_type(name):  # case 20
    def job(comm):
        wide = np.full((6, 8), 7, np.float16)
        strided, flat = wide[::2, 1::2], np.arange(12, dtype=np.float16)
        strided[...] = flat.reshape(3, 4) * (comm.rank + 1)
        flat *= comm.rank + 1
        run(name, comm, strided)
        run(name, comm, flat)
        np.testing.assert_array_equal(strided, flat.reshape(3, 4))
        strided[...] = 7
        assert (wide == 7).all(), "something beside the array was written to"

    run_threads(job, 3)


def predicted(name, ranks, array):
    extra = [segments(array.size, array.itemsize, 80)] if name == "chain_broadcast" else []
    return getattr(cost, name)(ranks, array.nbytes, *extra)


@several
@pytest.mark.parametrize("name", NAMES)
def test_messages_and_bytes_are_those_of_the_formula(name, ranks):
    for size, root in ((0, 0), (1, 0), (1003, ranks - 1), (2520, 0), (2520, 1)):

        def job(comm, size=size, root=root):
            traced = Traced(comm)
            run(name, traced, np.ones(size, np.float32), root)
            return [note for note in traced.notes if isinstance(note, Message)]

        sent = [message for messages in run_threads(job, ranks) for message in messages]
        right = predicted(name, ranks, np.ones(size, np.float32))
        assert len(sent) == right.messages, f"{size} numbers"
        scatters = name in ("tree_scatter", "tree_gather", "scatter_broadcast", "gather_reduce")
        if size in (0, 2520) or not scatters:
            assert sum(message.bytes for message in sent) == pytest.approx(right.bytes), f"{size} numbers"


@several
@pytest.mark.parametrize("name", NAMES)
def test_time_is_that_of_the_formula(name, ranks):
    """On a clock that only messages and sums move: alpha = 1000, a byte sent = 1, a byte added = 0.3."""
    array = np.ones(9 * 8 * 7 * 5, np.float32)  # every number of ranks up to 10 shares it evenly

    def job(comm):
        timed = VirtualTime(comm, alpha=1000.0, beta=1.0, gamma=0.3)
        run(name, timed, timed.numbers(array.copy()))
        return timed.now

    assert max(run_threads(job, ranks)) == pytest.approx(predicted(name, ranks, array).seconds(1000.0, 1.0, 0.3))


@pytest.mark.parametrize("name", NAMES)
def test_one_rank_changes_nothing_and_sends_nothing(name):
    traced, array = Traced(Serial()), np.arange(5.0)
    run(name, traced, array)
    np.testing.assert_array_equal(array, np.arange(5.0))
    assert not traced.notes


def test_over_mpi():
    for found in run_mpi(__file__, "all_of_them", 3):
        assert found == dict.fromkeys(NAMES, "as on threads")


def all_of_them(pool):
    comm = pool.checkout()
    found = {}
    for name in NAMES:
        array = values(comm.rank, 1003)
        run(name, comm, array, root=1)
        same = bits(array).tolist() == bits(results(name, comm.size, 1003, root=1)[comm.rank]).tolist()
        found[name] = "as on threads" if same else "other bits"
    return found


def test_long_vectors_want_other_broadcasts_than_short_ones():
    network = {"alpha": 1e-5, "beta": 1e-9, "gamma": 2e-10}
    for short, long in (("tree_broadcast", "scatter_broadcast"), ("tree_reduce", "gather_reduce")):
        for size, better, worse in ((1e2, short, long), (1e8, long, short)):
            assert getattr(cost, better)(16, size).seconds(**network) < getattr(cost, worse)(16, size).seconds(**network)
    best = (14 * 1e8 * 1e-9 / 1e-5) ** 0.5
    assert cost.chain_broadcast(16, 1e8, best).seconds(**network) < 0.6 * cost.scatter_broadcast(16, 1e8).seconds(**network)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in RINGS])
def test_there_must_be_a_root(name):
    with pytest.raises(ValueError, match=r"root=3: there is one rank, number 0"):
        run(name, Serial(), np.ones(3), root=3)


@pytest.mark.parametrize("name", NAMES)
def test_each_says_what_it_costs(name):
    assert "alpha" in inspect.getdoc(getattr(collectives, name))
    assert name in collectives.__all__
