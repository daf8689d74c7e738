"""Ranks that wait for each other are told, and those that are only slow aren't taken for them."""

import contextlib
import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace

import numpy as np
import pytest

from dtnn import inject
from dtnn.cluster import RunInterrupted, stalls
from dtnn.cluster.rank import do
from dtnn.cluster.stalls import Stalls
from dtnn.cluster.whereabouts import whereabouts
from dtnn.comm import RankFailed, group
from dtnn.comm.pending import HELD
from dtnn.records import Note

from .conftest import needs_mpi

SECONDS = 20


def crossed(comm):
    if comm.rank == 0:
        comm.Recv(np.zeros(3), 1, 5)
    comm.Barrier()


def alone(comm):
    if comm.rank == 0:
        comm.Recv(np.zeros(3), 1, 5)


def alone_after_some_records(comm):
    yield Note(comm.rank, time.time(), "a record")
    yield from (None for _ in range(3))
    alone(comm)


def uneven(comm, seconds):
    if comm.rank == 1:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            sum(range(1000))
    comm.Barrier()
    return comm.Allreduce(comm.rank + 1)


def busy_on_a_slow_link(comm):
    """Always in the same line of the same call, and yet not in one and the same wait."""
    for _ in range(40):
        comm.Allreduce(np.zeros(10))
    return 40


def told_within(run, words, seconds):
    until = time.monotonic() + seconds
    while words not in run.waiting_for and time.monotonic() < until:
        time.sleep(0.02)
    return run.waiting_for


@needs_mpi
def test_ranks_that_wait_for_each_other_end_the_run_themselves(engines):
    run = engines.run(crossed)
    with pytest.raises(Exception, match="none of them can go on") as caught:
        run.result(SECONDS)
    for words in ("rank 0 waits to receive float64 (3,) from rank 1 (tag 5)", "rank 1 waits for rank 0 to join in Barrier"):
        assert words in str(caught.value)
    assert run.state == "failed"
    assert engines.run(lambda comm: comm.Allreduce(np.arange(5.0)).tolist()).result(SECONDS) == [0, 2, 4, 6, 8]


@needs_mpi
@pytest.mark.parametrize("job", [alone, pytest.param(alone_after_some_records, marks=pytest.mark.slow)])
def test_a_wait_for_a_rank_that_has_ended_is_told_once_and_can_be_ended(engines, job, capfd):
    began = time.monotonic()
    run = engines.run(job)
    words = told_within(run, "deadlock", 15)
    print(f"deadlock told after {time.monotonic() - began:.1f} s")
    assert "all have waited for 3 s" in words
    assert "rank 0 waits in Recv (test_stalls.py, line" in words
    assert ": comm.Recv(np.zeros(3), 1, 5))" in words
    assert "rank 1 has ended" in words
    time.sleep(1.5)  # two more looks
    assert [record.text for record in run.records.of(Note)].count(words) == 1
    assert capfd.readouterr().err.count("deadlock: no rank can go on") == 1
    asked = time.monotonic()
    run.end()
    assert time.monotonic() - asked < 6
    assert run.state == "interrupted"
    with pytest.raises(RunInterrupted):
        run.result(SECONDS)
    assert engines.state == "running"
    assert engines.run(lambda comm: comm.Allreduce(np.arange(5.0)).tolist()).result(SECONDS) == [0, 2, 4, 6, 8]


@needs_mpi
@pytest.mark.slow
def test_a_slow_rank_is_named_as_slow(engines, capfd):
    run = engines.run(uneven, 8.0)
    words = told_within(run, "which computes", 15)
    assert words.startswith("rank 1, which computes (test_stalls.py, line")
    assert "rank 0 waits in Barrier (test_stalls.py, line" in words
    assert run.result(SECONDS) == 3
    assert "deadlock" not in capfd.readouterr().err
    assert not run.records


@needs_mpi
@pytest.mark.slow
@pytest.mark.parametrize("latency", [0.1, 2.5])
def test_a_slow_link_is_no_deadlock(engines, capfd, latency):
    """Both many short waits and few that are long: Rabenseifner's algorithm among two takes two messages' time."""
    with inject.link(latency=latency):
        run = engines.run(busy_on_a_slow_link if latency < 1 else lambda comm: comm.Allreduce(comm.rank + 1))
    assert "deadlock" not in told_within(run, "deadlock", 7)
    run.interrupt()
    assert run.wait(SECONDS)
    assert "deadlock" not in capfd.readouterr().err


def place(verb="", mark="1", size=0):
    return {"verb": verb, "file": "job.py", "line": 3, "function": "job", "compiles": False, "mark": mark, "bytes": size}


class Clock:
    """Some seconds pass in no time, and ranks answer at once."""

    def __init__(self, monkeypatch, size=2):
        self.now, self.where = 100.0, {rank: place("Recv") for rank in range(size)}
        monkeypatch.setattr(stalls.time, "monotonic", lambda: self.now)
        self.warned = []
        run = SimpleNamespace(records=[], outcomes={}, state="running", _interrupt_asked=False, _stalled="", size=size)
        self.run, run._warn = run, self.warned.append
        self.stalls = Stalls(run, self.ask)

    def ask(self, rank):
        answer = Future()
        if self.where[rank] is not None:
            answer.set_result({"content": self.where[rank]})
        return answer

    def pass_by(self, seconds, change=None):
        until = self.now + seconds
        while self.now < until:
            if change:
                change()
            self.now += 0.1
            self.stalls.look(set(self.where))
        return self.run._stalled


def test_waits_count_from_three_seconds_on_and_only_in_one_and_the_same_wait(monkeypatch):
    clock = Clock(monkeypatch)
    assert clock.pass_by(3.0) == ""
    assert clock.pass_by(2.0).startswith("deadlock")
    clock = Clock(monkeypatch)
    assert clock.pass_by(20.0, lambda: clock.where.update({1: place("Recv", mark=str(clock.now))})).startswith(
        "rank 1, which comm"
    )
    assert not clock.warned


def test_a_rank_that_does_not_answer_is_no_deadlock(monkeypatch):
    clock = Clock(monkeypatch)
    clock.where[1] = None
    assert "rank 1, which doesn't answer; rank 0 waits in Recv" in clock.pass_by(10.0)
    assert not clock.warned


def test_a_rank_that_has_not_begun_or_has_just_ended_is_no_deadlock(monkeypatch):
    clock = Clock(monkeypatch)
    clock.where[1] = {"problem": "the run has not begun here, or has ended"}
    assert "rank 1, which doesn't answer; rank 0 waits in Recv" in clock.pass_by(10.0)
    assert not clock.warned


def test_a_large_message_may_take_its_time(monkeypatch):
    clock = Clock(monkeypatch)
    clock.where = {rank: place("Allreduce", size=10**9) for rank in (0, 1)}
    assert clock.pass_by(11.0) == ""
    assert clock.pass_by(5.0).startswith("deadlock")


@pytest.mark.parametrize("happens", ["a record", "a pause", "an end", "an interrupt"])
def test_what_happens_meanwhile_ends_the_suspicion(monkeypatch, happens):
    clock = Clock(monkeypatch)
    assert clock.pass_by(6.0).startswith("deadlock")
    if happens == "a record":
        clock.run.records.append(1)
    elif happens == "a pause":
        clock.run.state = "paused"
    elif happens == "an end":
        clock.run.outcomes[1] = "done"
    else:
        clock.run._interrupt_asked = True
    assert clock.pass_by(0.2) == ""
    assert (clock.pass_by(10.0) != "") == (happens in ("a record", "an end"))
    assert len(clock.warned) == (2 if happens in ("a record", "an end") else 1)


def test_where_a_thread_is_that_does_a_job():
    comms, ident, go = group(2), [], threading.Event()

    def job(comm):
        ident.append(threading.get_ident())
        go.wait(10)
        with contextlib.suppress(RankFailed):
            comm.Recv(np.zeros(1), 1, 0)

    thread = threading.Thread(target=do, args=(job, comms[0], (), {}, None, None), daemon=True)
    thread.start()
    while not ident:
        time.sleep(0.01)
    where = whereabouts(ident[0])
    assert where["verb"] == ""
    assert (where["function"], where["file"]) == ("job", __file__)
    assert not where["compiles"]
    go.set()
    until = time.monotonic() + 10
    while not whereabouts(ident[0])["verb"] and time.monotonic() < until:
        time.sleep(0.01)
    newest = max(HELD, default=0) + 1
    HELD[newest] = np.zeros(3)
    try:
        found = whereabouts(ident[0])
    finally:
        del HELD[newest]
    assert (found["verb"], found["function"], found["bytes"]) == ("Recv", "job", 24)
    assert found["line"] == where["line"] + 2
    assert found["mark"] != whereabouts(ident[0])["mark"]
    comms[1].fail("the test is over")
    thread.join(10)


def test_where_a_thread_is_that_does_no_job():
    where = whereabouts(threading.get_ident())
    assert (where["verb"], where["line"]) == ("", 0)
