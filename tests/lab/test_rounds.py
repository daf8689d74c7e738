"""All-reduces, watched: each message once, in its round, and the sums between the rounds."""

import tracemalloc

import numpy as np
import pytest

from dtnn.comm import Deadlock, collectives
from dtnn.lab.allreduce_facts import ITEM, clocked, formula, function, predicted, summed
from dtnn.lab.node_links import Links
from dtnn.lab.rounds import rounds
from dtnn.lab.torus_grid import grids


@pytest.mark.parametrize("name", collectives.ALGORITHMS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8, 16])
def test_counts_are_those_of_the_formula_and_the_sum_is_whole(name, ranks):
    for length in (1, ranks, 37):
        seen = rounds(function(name), ranks, length)
        assert (seen.sums[-1] == 2**ranks - 1).all()
        assert (seen.sums[0] == 2 ** np.arange(ranks)[:, None]).all()
        assert len(seen.parcels) == seen.messages
        assert ITEM * sum(parcel.count for parcel in seen.parcels) == seen.bytes
        cost = formula(name, ranks, ITEM * length)
        if cost:
            assert (seen.messages, seen.bytes) == (cost.messages, pytest.approx(cost.bytes))


def test_the_ring_in_its_rounds():
    seen = rounds(collectives.ring, 4, 8)
    assert len(seen) == 6
    for number in range(1, 7):
        assert [(parcel.source, parcel.dest) for parcel in seen.of(number)] == [(0, 1), (1, 2), (2, 3), (3, 0)]
        assert {parcel.count for parcel in seen.of(number)} == {2}
    assert seen.sums[1][1].tolist() == [2, 2, 2, 2, 2, 2, 3, 3], "rank 1 has added rank 0's last share"
    assert (seen.sums[3] == 15).sum() == 4 * 2, "after the reduce-scatter each rank has one whole share"


def test_rounds_of_the_tree_halve_who_is_there():
    seen = rounds(collectives.tree, 8, 1)
    assert [len(seen.of(number)) for number in range(1, 7)] == [4, 2, 1, 1, 2, 4]
    assert [(p.source, p.dest) for p in seen.of(1)] == [(1, 0), (3, 2), (5, 4), (7, 6)]


def test_a_wrong_all_reduce_is_told_in_words():
    def waits(comm, array):
        comm.Recv(array, (comm.rank + 1) % comm.size)

    with pytest.raises(Deadlock, match="rank 0"):
        rounds(waits, 2, 4)
    with pytest.raises(ValueError, match="17 ranks can't be shown; choose 1 to 16"):
        rounds(collectives.ring, 17, 4)


def test_what_is_sent_from_elsewhere_has_no_place():
    def copies(comm, array):
        sent, received = array.copy(), np.empty_like(array)
        comm.Sendrecv(sent, 1 - comm.rank, received, 1 - comm.rank)
        array += received

    seen = rounds(copies, 2, 3)
    assert [(parcel.start, parcel.count) for parcel in seen.parcels] == [(None, 3), (None, 3)]
    assert seen.sums[-1].tolist() == [[3] * 3] * 2


def test_the_sum_depends_on_the_order_and_all_ranks_agree():
    found = {name: summed(function(name)) for name in collectives.ALGORITHMS}
    assert all(same for _, _, same in found.values())
    assert len({value for value, _, _ in found.values()}) > 1
    assert {value for value, _, _ in found.values()} <= {0.0, 1.0, 2.0}
    assert summed(collectives.ring, (1.0, 2.0)) == (3.0, "40400000", True)


LINKS = Links(latency=0.02, bandwidth=1e6)


def test_the_clock_is_near_the_formula_where_links_are_slow():
    took = clocked(collectives.ring, 4, 1000, LINKS)
    predicted = formula("ring", 4, 4000).seconds(0.02, 1e-6)
    assert took >= 0.9 * predicted, "nothing is faster than its messages"


@pytest.mark.parametrize("name", [name for name in collectives.ALGORITHMS if formula(name, 4, 64)])
@pytest.mark.parametrize("ranks", [2, 4, 5, 16])
def test_what_the_messages_take_is_what_the_formula_says(name, ranks):
    seen = rounds(function(name), ranks, 16 * ranks)
    assert predicted(seen, ranks, LINKS) == pytest.approx(formula(name, ranks, 64 * ranks).seconds(0.02, 1e-6))


def test_links_between_nodes_may_be_slower():
    slow = Links(latency=0.01, bandwidth=1e9, ranks_per_node=2, slower=5)
    ring, both = (predicted(rounds(function(name), 4, 8), 4, slow) for name in ("ring", "hierarchical"))
    assert ring == pytest.approx(6 * 0.05, rel=0.01), "in each of its rounds a message crosses"
    assert both == pytest.approx(2 * 0.01 + 2 * 0.05, rel=0.01)
    assert clocked(function("hierarchical"), 4, 8, slow) >= 0.9 * both
    assert clocked(collectives.native, 4, 8, slow) >= 0.9 * 4 * 0.05
    assert predicted(rounds(collectives.native, 4, 8), 4, slow) is None


def test_a_torus_of_any_grid():
    for rows in grids(12):
        seen = rounds(function("torus", rows=rows), 12, 24)
        assert (seen.sums[-1] == 2**12 - 1).all()
        assert seen.messages == formula("torus", 12, 96, rows=rows).messages
        assert len(seen) == formula("torus", 12, 96, rows=rows).starts
    assert rounds(function("torus", rows=3), 12, 24).parcels == rounds(function("torus"), 12, 24).parcels, "the most square one"


def test_of_a_long_vector_little_is_kept():
    """16 ranks and 100,000 numbers, which is what the lab offers: the vectors themselves are 6.4 MB."""
    tracemalloc.start()
    kept = [rounds(function(name), 16, 100_000) for name in collectives.ALGORITHMS]
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept) == len(collectives.ALGORITHMS)
    assert now < 5e6, "of all of them"
    assert peak < 30e6
