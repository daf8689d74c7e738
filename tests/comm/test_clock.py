"""Clocks of ranks are brought together, and how well is known."""

import time

import numpy as np
import pytest

from dtnn.comm import Serial, run_threads
from dtnn.comm import clock as clock_module
from dtnn.comm.clock import align, one_clock
from tests.comm.mpi_job import run_mpi

AHEAD = 11.56  # seconds
ROUNDING = 1e-9  # seconds; of clocks that show some hundred thousand
TIMES = 10


def shifted(rank, seconds=AHEAD):
    """The usual clock on rank 0, one that is ahead elsewhere."""
    return time.perf_counter if rank == 0 else lambda: time.perf_counter() + seconds * rank


def test_ranks_of_one_host_have_one_clock_and_ask_nothing():
    def job(comm):
        before = comm.bytes
        found = align(comm)
        return found.rank, found.offset, found.uncertainty, comm.bytes - before

    assert run_threads(job, 3) == [(rank, 0.0, 0.0, 16) for rank in range(3)]  # 16: two numbers to compare the hosts


def test_alone_there_is_nothing_to_ask():
    assert align(Serial(), shifted(1)).uncertainty == 0.0


def check_offsets(found, sharp):
    """Each time within the uncertainty; which is below `sharp` seconds the best time, whatever else the machine has to do."""
    assert set(found[0]) == {(0.0, 0.0)}
    for rank, times in enumerate(found[1:], 1):
        for offset, uncertainty in times:
            assert abs(offset + AHEAD * rank) <= uncertainty + ROUNDING, f"rank {rank}"
            assert uncertainty > 0
        assert min(uncertainty for _, uncertainty in times) < sharp, f"rank {rank}"


def job(comm):
    found = [align(comm, shifted(comm.rank)) for _ in range(TIMES)]
    return [(each.offset, each.uncertainty) for each in found]


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_clock_that_is_ahead_is_found_within_the_uncertainty(ranks):
    check_offsets(run_threads(job, ranks), 0.02)


def test_over_mpi_it_is_found_to_microseconds():
    check_offsets(run_mpi(__file__, "job_over_mpi", 2), 0.001)


def job_over_mpi(pool):
    return job(pool.checkout())


class Late:
    """A communicator whose messages take long, and longer to rank 0 than back."""

    def __init__(self, comm):
        self.comm = comm

    def __getattr__(self, name):
        return getattr(self.comm, name)

    def Send(self, array, dest, tag=0):
        time.sleep(0.003 if dest == 0 else 0.001)
        self.comm.Send(array, dest, tag)


def test_a_way_that_is_longer_in_one_direction_shows_in_the_uncertainty():
    found = run_threads(lambda comm: align(Late(comm), shifted(comm.rank)), 2)[1]
    assert abs(found.offset + AHEAD) <= found.uncertainty + ROUNDING
    assert found.uncertainty > 0.0019


def test_what_a_clock_has_drifted_is_added_to_the_uncertainty():
    def job(comm):
        first = align(comm, shifted(comm.rank))
        second = align(comm, shifted(comm.rank, AHEAD + 0.5), before=first)
        return first, second

    (_, still), (first, second) = run_threads(job, 2)
    assert still.uncertainty == 0.0
    drift = first.offset - second.offset
    own = second.uncertainty - drift  # that of the second time alone
    assert own >= 0
    assert abs(drift - 0.5) <= first.uncertainty + own + ROUNDING


def test_hosts_are_told_apart_by_more_than_their_name(monkeypatch):
    names = iter(["one boot", "another boot"])

    def job(comm):
        return one_clock(comm)

    assert run_threads(job, 2) == [True, True]
    monkeypatch.setattr(clock_module, "_host", lambda: next(names))
    assert run_threads(job, 2) == [False, False]


def test_a_system_without_a_boot_id_goes_by_the_name(monkeypatch):
    def refuse(*_):
        raise OSError

    monkeypatch.setattr("builtins.open", refuse)
    assert clock_module._host() == clock_module.platform.node()


def test_the_narrowest_answers_count():
    """Each question alone gives an interval; what is left is what all of them allow, so no more than the narrowest."""
    waits, shown = iter(np.random.default_rng(0).uniform(0.0005, 0.02, clock_module.ROUNDS)), []

    def clock():
        shown.append(time.perf_counter() + AHEAD)
        return shown[-1]

    def job(comm):
        def patient(array, dest, tag=0):
            time.sleep(next(waits) if comm.rank else 0)
            comm.Send(array, dest, tag)

        slow = Late(comm)
        slow.Send = patient
        return align(slow, clock if comm.rank else time.perf_counter)

    found = run_threads(job, 2)[1]
    _, *moments = shown  # when it was called; then when each question went out, and when its answer came
    widths = np.diff(np.reshape(moments, (-1, 2)))
    assert len(widths) == clock_module.ROUNDS
    assert abs(found.offset + AHEAD) <= found.uncertainty + ROUNDING
    assert found.uncertainty <= widths.min() / 2 + ROUNDING < np.median(widths) / 2
