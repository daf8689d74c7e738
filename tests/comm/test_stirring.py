"""A thread that stirs: from start to stop, and not for ever when it is forgotten."""

import threading
import time

import numpy as np

from dtnn.comm import Serial, stirring
from dtnn.comm.stirring import Stirring
from dtnn.comm.traced import Traced
from tests.comm.mpi_job import run_mpi


class Stirred(Serial):
    """Counts; after `most` it has had enough."""

    def __init__(self, most=10**9):
        self.count, self.most = 0, most

    def stir(self):
        self.count += 1
        return self.count < self.most


def alive():
    return [thread for thread in threading.enumerate() if thread.name == "dtnn stirring"]


def wait_until(condition, seconds=10.0):
    until = time.perf_counter() + seconds
    while not condition() and time.perf_counter() < until:
        time.sleep(0.005)
    assert condition()


def test_from_start_to_stop():
    comm = Stirred()
    kept = Stirring(Traced(comm))
    for _ in range(2):
        kept.start()
        kept.start()  # it does so already
        assert len(alive()) == 1
        before = comm.count
        wait_until(lambda: comm.count > before + 3)  # noqa: B023
        kept.stop()
        kept.stop()
        wait_until(lambda: not alive())
    count = comm.count
    time.sleep(0.02)
    assert comm.count == count


def test_it_ends_by_itself(monkeypatch):
    for comm in (Stirred(most=5), Stirred()):
        Stirring(comm).start()
        if comm.most == 5:
            wait_until(lambda: not alive())
            assert comm.count == 5
            monkeypatch.setattr(stirring, "SILENCE", 0.05)
        else:
            wait_until(lambda: not alive(), 1.0)
            assert comm.count > 5


def test_others_need_none():
    kept = Stirring(Serial())
    kept.start()
    assert not alive()
    kept.stop()


def test_messages_of_mpi_move_meanwhile():
    for arrived, total, after_failure in run_mpi(__file__, "sleep_meanwhile", 2):
        assert arrived
        assert total == 3.0
        assert after_failure is False


def sleep_meanwhile(pool):
    """Long enough for several messages; nobody calls MPI but the thread."""
    comm = pool.checkout()
    array, kept = np.full(2_000_000, comm.rank + 1.0, np.float32), Stirring(comm)
    comm.Barrier()
    request = comm.Iallreduce(array)
    kept.start()
    time.sleep(1.0)
    kept.stop()
    arrived = request.left[-1][0].Test()  # the library's own, once
    request.Wait()
    comm.Barrier()
    comm.interrupt()
    return arrived, float(array.max()), comm.stir()
