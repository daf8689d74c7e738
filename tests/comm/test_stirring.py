"""A thread that stirs: from start to stop, and not for ever when it is forgotten."""

import threading
import time
from types import SimpleNamespace

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


class Pieces(Serial):
    """So many arrive while the thread sleeps. A stir moves one, which takes a while; the first after a sleep does so anyway."""

    def __init__(self, pieces):
        self.pieces, self.left, self.cold, self.rounds = pieces, 0, True, [0]

    def stir(self):
        until = time.perf_counter() + (5e-5 if self.left else 3e-5 if self.cold else 0)
        while time.perf_counter() < until:
            pass
        self.left, self.cold = max(0, self.left - 1), False
        self.rounds[-1] += 1
        return True

    def sleep(self, seconds):
        if len(self.rounds) in (1, 4):
            self.left += self.pieces
        self.cold = True
        self.rounds.append(0)
        time.sleep(seconds)


def test_a_round_goes_on_while_there_is_something_to_move(monkeypatch):
    comm = Pieces(34)
    clock = SimpleNamespace(sleep=comm.sleep, monotonic=time.monotonic, perf_counter=time.perf_counter)
    monkeypatch.setattr(stirring, "time", clock)
    kept = Stirring(comm)
    kept.start()
    wait_until(lambda: len(comm.rounds) > 6)
    kept.stop()
    wait_until(lambda: not alive())
    moved, rest = [comm.rounds[1], comm.rounds[4]], comm.rounds[2:4] + comm.rounds[5:6]
    assert min(moved) >= 34, "a round goes on while there is something to move"
    assert min(rest) >= stirring.QUIET
    assert max(rest) < 34, "and ends when there is nothing more"


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
    arrived = request.pending.left[-1][0].Test()  # the library's own, once
    request.Wait()
    comm.Barrier()
    comm.interrupt()
    return arrived, float(array.max()), comm.stir()
