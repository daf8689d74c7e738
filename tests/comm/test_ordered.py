"""Sums in an order that is written down: the same bits in every run, on threads and over MPI, whatever the library does."""

import hashlib
import time

import numpy as np
import pytest

from dtnn.comm import Serial, run_threads
from dtnn.comm.ordered import SHORT, Ordered
from tests.comm.contract import CHECKS
from tests.comm.mpi_job import run_mpi

SIZES = (1, 7, SHORT // 4, SHORT // 4 + 1, 70_001)  # numbers; on both sides of where the algorithm changes


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_it_does_what_every_communicator_must(check, size):
    run_threads(lambda comm: check(Ordered(comm)), size)


def test_alone():
    assert Ordered(Serial()).Allreduce(2.5) == 2.5


def digests(comm):
    """Of sums of numbers whose sum depends on the order very much; ranks come early or late."""
    comm, waits = Ordered(comm), np.random.default_rng(comm.rank)
    found = []
    for size in SIZES:
        rng = np.random.default_rng([size, comm.rank])
        numbers = (rng.standard_normal(size) * 10.0 ** rng.integers(-6, 6, size)).astype(np.float32)
        for verb in (comm.Allreduce, lambda array: comm.Iallreduce(array).Wait()):
            for _ in range(3):
                time.sleep(0.003 * waits.random())
                array = numbers.copy()
                verb(array)
                found.append(hashlib.sha256(array).hexdigest())
    return found


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_the_bits_are_the_same_each_time_on_threads_and_over_mpi(size):
    on_threads = run_threads(digests, size)
    over_mpi = run_mpi(__file__, "here", size)
    assert len({tuple(found) for found in (*on_threads, *over_mpi)}) == 1
    assert len(set(on_threads[0])) == len(SIZES)


def here(pool):
    return digests(pool.checkout())


class Whimsical:
    """A communicator that adds up in another order each time, as a library may."""

    def __init__(self, comm):
        self.comm, self.calls = comm, 0

    def __getattr__(self, name):
        return getattr(self.comm, name)

    def Allreduce(self, array, op="sum"):
        if op != "sum" or not np.ndim(array):
            return self.comm.Allreduce(array, op)
        everyone = np.zeros((self.size, *np.shape(array)), np.asarray(array).dtype)
        everyone[self.rank] = array
        self.comm.Allreduce(everyone)
        self.calls += 1
        order = np.random.default_rng(self.calls).permutation(self.size)
        total = everyone[order[0]].copy()
        for rank in order[1:]:
            total += everyone[rank]
        array[...] = total
        return array


def test_a_library_that_changes_its_order_changes_nothing():
    def job(comm):
        numbers, whimsical = np.float32([1e8, 1, -1e8, 1])[[comm.rank]], Whimsical(comm)
        bare = {float(whimsical.Allreduce(numbers.copy())[0]) for _ in range(8)}
        ordered = {float(Ordered(whimsical).Allreduce(numbers.copy())[0]) for _ in range(8)}
        return len(bare), len(ordered)

    for bare, ordered in run_threads(job, 4):
        assert bare > 1
        assert ordered == 1
