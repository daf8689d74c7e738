"""How often a live view draws."""

import os
import socket

import pytest

from dtnn.plots import pace
from dtnn.plots.live import Live
from dtnn.plots.pace import Pace, idle_seconds


class Ranks:
    """A run whose ranks are these processes."""

    def __init__(self, *pids, host=None):
        self.records, self.rows = [], [{"host": host or socket.gethostname(), "pid": pid} for pid in pids]


@pytest.fixture
def machine(monkeypatch):
    """Cores that idle as the test says, and a clock that it sets."""

    class Machine:
        now, idle, busy = 0.0, 0.0, 0.0

        def passes(self, seconds, idle):
            self.now, self.idle, self.busy = self.now + seconds, self.idle + idle * seconds, self.busy + (1 - idle) * seconds

    made = Machine()
    monkeypatch.setattr(pace, "idle_seconds", lambda: made.idle)
    monkeypatch.setattr(pace.time, "perf_counter", lambda: made.now)
    return made


def after(machine, run, idle, cost=0.02, pictures=5, eager=0.0):
    """The wait after some pictures, while so many cores idled."""
    paced = Pace(run, eager=eager)
    for _ in range(pictures):
        machine.passes(1.0, idle)
        waited = paced.wait(cost, 0.3)
    return waited


def test_an_idle_core_draws_two_or_three_times_a_second(machine):
    assert after(machine, Ranks(1, 2), idle=1.0) == 0.3
    assert after(machine, Ranks(1, 2), idle=1.0, cost=0.1) == 0.5


def test_where_no_core_idles_pictures_are_rare(machine):
    assert after(machine, Ranks(1, 2), idle=0.1, cost=0.02) == pytest.approx(1.6)
    assert after(machine, Ranks(1, 2), idle=0.1, cost=0.04) == pytest.approx(3.2)
    assert after(machine, Ranks(1, 2), idle=0.1, cost=1.0) == 5.0, "a slow machine is told of something, too"
    assert after(machine, Ranks(1, 2), idle=0.1, cost=0.002) == 0.3


def test_who_has_just_begun_sees_that_it_lives(machine):
    """A dozen pictures come quickly, then the training has its time."""
    waits = [after(machine, Ranks(1, 2), idle=0.1, cost=0.035, pictures=number, eager=pace.EAGER) for number in (3, 12, 14, 30)]
    assert waits == pytest.approx([0.035 / pace.FREE_SHARE] * 2 + [0.035 / pace.SHARE] * 2)


@pytest.mark.parametrize("run", [Ranks(1, os.getpid()), [], object()], ids=["threads", "records", "fit"])
def test_a_training_in_this_process_stands_still_meanwhile(machine, run):
    assert after(machine, run, idle=7.0) == pytest.approx(1.6)


def test_the_same_number_of_another_hosts_process_is_not_this_one(machine):
    assert after(machine, Ranks(os.getpid(), host="elsewhere"), idle=1.0) == 0.3


def test_the_first_pictures_import_and_find_fonts(machine):
    assert after(machine, Ranks(1), idle=0.0, cost=2.0, pictures=2) == 0.5


def test_where_the_system_says_nothing_no_core_is_called_idle(machine, monkeypatch):
    monkeypatch.setattr(pace, "idle_seconds", lambda: None)
    assert after(machine, Ranks(1), idle=1.0) == pytest.approx(1.6)


def test_idle_seconds_are_those_of_the_cores_of_this_process(tmp_path, monkeypatch):
    told = tmp_path / "stat"
    told.write_text("cpu 9 9 9 900 9 0\ncpu0 1 1 1 300 20 0\ncpu1 1 1 1 500 1 0\nintr 5\n")
    monkeypatch.setattr(pace, "TICKS", 100)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert idle_seconds(told) == pytest.approx(3.2)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert idle_seconds(told) == pytest.approx(8.21)
    assert idle_seconds(tmp_path / "nothing") is None


def test_a_view_of_a_training_in_this_process_draws_a_share_of_the_time(run_of, monkeypatch):
    """On a clock of its own: a step takes 1 ms, a picture 20."""
    clock = [0.0]
    monkeypatch.setattr(pace.time, "perf_counter", lambda: clock[0])

    class Slow:
        interval, pictures = 0.3, 0

        def show(self, live):
            self.pictures += 1
            clock[0] += 0.02

    live, records = Live([], screen=Slow()), run_of()
    for number in range(30_000):
        if number % 100 == 0 and records:
            live.run.append(records.pop(0))
        clock[0] += 0.001
        live.update()
    drawing = 0.02 * live.screen.pictures
    assert drawing == pytest.approx(pace.SHARE * clock[0] + pace.EAGER, rel=0.15)
