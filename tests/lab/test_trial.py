"""What is tried on ranks that are threads: its result, its error, its end."""

import threading
import time

import numpy as np
import pytest

from dtnn.lab.trial import Ended, tried


def left():
    """Threads of ranks that have not ended."""
    return [thread for thread in threading.enumerate() if thread.name.startswith(("rank ", "trial"))]


def gone(before, seconds=5):
    end = time.monotonic() + seconds
    while set(left()) - set(before) and time.monotonic() < end:
        time.sleep(0.01)
    return not set(left()) - set(before)


def test_results_and_errors_are_those_of_the_ranks():
    assert tried(lambda comm: comm.rank, 3, 5) == [0, 1, 2]

    def wrong(comm):
        raise ValueError(f"rank {comm.rank} is wrong")

    with pytest.raises(ValueError, match=r"rank \d is wrong"):
        tried(wrong, 2, 5)


def spins(comm):
    while True:
        pass


def meets(comm):
    while True:
        comm.Allreduce(np.ones(4))


def waits(comm):
    time.sleep(0.2)
    while True:
        comm.Sendrecv(np.ones(1), 1 - comm.rank, np.ones(1), 1 - comm.rank)


@pytest.mark.parametrize("endless", [spins, meets, waits])
def test_what_never_ends_is_ended(endless):
    before = left()
    with pytest.raises(TimeoutError, match=r"it has not ended after 0\.3 s"):
        tried(endless, 2, 0.3)
    assert gone(before)


def test_who_began_it_may_end_it():
    before, ending = left(), threading.Event()
    threading.Timer(0.2, ending.set).start()
    with pytest.raises(Ended):
        tried(meets, 2, 60, ending)
    assert gone(before)


def test_what_can_not_be_ended_is_left():
    over = threading.Event()
    begin = time.monotonic()
    with pytest.raises(TimeoutError):
        tried(lambda comm: over.wait(), 2, 0.1)
    assert time.monotonic() - begin < 5
    over.set()
