"""An all-reduce of one's own: the check passes right ones, and says what is wrong with wrong ones."""

import numpy as np
import pytest

from dtnn.comm import collectives
from dtnn.comm.collectives import WrongSum, check_allreduce


@pytest.mark.parametrize("name", collectives.ALGORITHMS)
def test_right_ones_pass(name):
    check_allreduce(getattr(collectives, name), ranks=[1, 2, 3, 6])


def forgets_the_last_step(comm, array):
    """A ring whose all-gather stops one step early."""
    from dtnn.comm.collectives.flat_sum import shares
    from dtnn.comm.collectives.ring import ring_reduce_scatter

    ring_reduce_scatter(comm, array)
    mine = shares(array, comm.size)
    for step in range(comm.size - 2):
        comm.Sendrecv(mine[comm.rank - step], (comm.rank + 1) % comm.size, mine[comm.rank - step - 1], comm.rank - 1)


def sends_to_each_other(comm, array):  # case 99
    received = np.empty_like(array)
    comm.Send(array, (comm.rank + 1) % comm.size)
    comm.Recv(received, (comm.rank - 1) % comm.size)
    array += received


def counts_itself_twice(comm, array):
    array[:] = array + comm.Allreduce(array.copy())


def only_powers_of_two(comm, array):
    received = np.empty_like(array)
    distance = 1
    while distance < comm.size:
        partner = comm.rank ^ distance
        if partner < comm.size:
            comm.Sendrecv(array, partner, received, partner)
            array += received
        distance *= 2


def each_in_its_own_order(comm, array):
    parts = [array.copy() for _ in range(comm.size)]
    for rank in range(comm.size):
        comm.Bcast(parts[rank], rank)
    array[:] = parts[comm.rank]
    for distance in range(1, comm.size):
        array += parts[(comm.rank + distance) % comm.size]


def mean_for_sum(comm, array):
    comm.Allreduce(array)
    array /= comm.size


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda comm, array: None, ["2 ranks, 1 number: rank 0 began with [1.] and ended with [1.]; the sum is [11.]"]),
        (sends_to_each_other, ["rank 0 waits to send float64 (0,) to rank 1", "rank 1 waits to send float64 (0,) to rank 0"]),
        (counts_itself_twice, ["2 ranks, 1 number: rank 0", "ended with [12.]; the sum is [11.]"]),
        (only_powers_of_two, ["3 ranks, 1 number: rank 1", "the sum is [111.]"]),
        (each_in_its_own_order, ["3 ranks", "last bits", "drift apart"]),
        (mean_for_sum, ["ended with [5.5]; the sum is [11.]"]),
        (forgets_the_last_step, ["2 ranks, 1 number", "the sum is [11.]"]),
    ],
)
def test_wrong_ones_are_told_what_is_wrong(function, words):
    with pytest.raises(WrongSum) as caught:
        check_allreduce(function, ranks=[2, 3, 4])
    for word in words:
        assert word in str(caught.value)


def test_an_error_of_the_function_itself_comes_through():
    def job(comm, array):
        if comm.rank == 1:
            raise IndexError("list index out of range")
        comm.Barrier()

    with pytest.raises(IndexError) as caught:
        check_allreduce(job, ranks=[3])
    assert caught.value.rank == 1


def test_the_numbers_of_ranks_and_the_lengths_are_those_that_are_asked_for():
    tried = set()

    def noted(comm, array):
        tried.add((comm.size, array.size))
        collectives.ring(comm, array)

    check_allreduce(noted, ranks=[3], lengths=[4, 17])
    assert tried == {(3, 4), (3, 17)}


def test_a_name_is_no_function():
    with pytest.raises(TypeError, match="function='ring': give a function of a communicator and an array, such as ring, not its"):
        check_allreduce("ring")
