"""Thread pools are set within a `with`, and put back."""

import threading

import numba
import pytest

from dtnn import machine


def test_threads_are_limited_and_put_back():
    before = numba.get_num_threads()
    with machine.threads(1):
        assert numba.get_num_threads() == 1
        assert all(pool["threads"] == 1 for pool in machine.describe()["blas"])
    assert numba.get_num_threads() == before


def test_more_threads_than_there_may_be_are_as_many_as_there_may_be():
    with machine.threads(10**6):
        assert numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS


def test_a_thread_sets_its_own():
    seen = []

    def rank():
        with machine.threads(1):
            seen.append(numba.get_num_threads())

    thread = threading.Thread(target=rank)
    thread.start()
    thread.join()
    assert seen == [1]


def test_no_threads_are_refused():
    with pytest.raises(ValueError, match="threads=0: give a whole number of at least 1"), machine.threads(0):
        pass


def test_ranks_share_the_cores():
    assert machine.threads_per_rank(1) == machine.cores()
    assert machine.threads_per_rank(machine.cores()) == 1
    assert machine.threads_per_rank(10 * machine.cores()) == 1
