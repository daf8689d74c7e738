"""Some ranks as a communicator of their own."""

import numpy as np
import pytest

from dtnn.comm import Serial, run_threads
from dtnn.comm.collectives import ring
from dtnn.comm.collectives.hierarchical import hierarchical, nodes_of
from dtnn.comm.part import Part


def test_parts_sum_among_themselves():
    def job(comm):
        members = [4, 0, 2] if comm.rank % 2 == 0 else [1, 3]
        array = np.array([10.0**comm.rank] * 5)
        ring(Part(comm, members), array)
        return array[0]

    assert run_threads(job, 5) == [10101, 1010, 10101, 1010, 10101]


def test_ranks_are_numbered_in_the_order_given():
    assert run_threads(lambda comm: Part(comm, [2, 0, 1]).rank, 3) == [1, 2, 0]


def test_only_members_make_it():
    with pytest.raises(ValueError, match=r"rank 0 is not among the members \[1, 2\]"):
        Part(Serial(), [1, 2])


def test_ranks_of_one_host_are_one_node():
    assert run_threads(lambda comm: len(set(nodes_of(comm).tolist())), 3) == [1, 1, 1]


@pytest.mark.parametrize("ranks_per_node", [None, 1, 2, 3, 5, 9])
def test_nodes_of_any_size(ranks_per_node):
    def job(comm):
        array = np.arange(4.0) * (comm.rank + 1)
        hierarchical(comm, array, ranks_per_node)
        return array.tolist()

    assert run_threads(job, 5) == [[0, 15, 30, 45]] * 5


@pytest.mark.parametrize("rank", [-1, 2])
def test_a_part_has_no_other_ranks(rank):
    def job(comm):
        part = Part(comm, [0, 1])
        with pytest.raises(ValueError, match=f"dest={rank}: there are 2 ranks, numbered 0 to 1"):
            part.Send(np.zeros(1), rank)
        with pytest.raises(ValueError, match=f"source={rank}: there are 2 ranks"):
            part.Recv(np.zeros(1), rank)

    run_threads(job, 2)
