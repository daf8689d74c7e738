"""Threads that help with kernels: every part is done once, whoever is there; helpers sleep, wake, and end with their leader."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from dtnn.kernels.baton import ROOM, do_all
from dtnn.kernels.cache import kernel
from dtnn.kernels.parts import MOST, here, run, team, twin
from dtnn.kernels.repeat import Repeat
from dtnn.kernels.tape import call
from dtnn.kernels.team import Team

pytestmark = pytest.mark.undisturbed  # times are compared


@kernel
def count_up(part, parts, counts, who):
    """Each part adds one to its own places, and says in how many parts it believes."""
    for i in range(counts.size * part // parts, counts.size * (part + 1) // parts):
        counts[i] += 1
    who[part] = parts


@kernel
def slow_sum(part, parts, x, sums):
    """A sum whose bits would differ if it were compiled in another way for another part."""
    s = x[0]
    for i in range(x.size):
        s += x[i] * x[i]
    sums[part] = s


def divide(crew, parts, body, *arguments):
    """What `run` does with this thread's team."""
    room = np.empty(ROOM, np.int64)
    do_all(crew.box, *twin(body)(arguments, room), parts)


def helpers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("dtnn-helper")]


def until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.fixture(autouse=True)
def nobody_before():
    here.teams.clear()
    until(lambda: not helpers())
    yield
    here.teams.clear()


@pytest.mark.parametrize("size", [2, 3, 5])
def test_every_part_is_done_once(size):
    counts, who = np.zeros(1001, np.int64), np.zeros(size, np.int64)
    for _ in range(2000):
        run(count_up, size, counts, who)
    assert (counts == 2000).all()
    assert (who == size).all()


def test_fewer_parts_than_the_team_has():
    counts, who, large = np.zeros(10, np.int64), np.zeros(4, np.int64), Team(4)
    for number in range(1, 1001):
        parts = 2 + number % 3
        divide(large, parts, count_up, counts, who)
        assert who[:parts].tolist() == [parts] * parts
        assert (counts == number).all()


def test_helpers_that_sleep_are_not_waited_for_and_are_woken():
    counts, who = np.zeros(10, np.int64), np.zeros(2, np.int64)

    def awake():
        run(count_up, 2, counts, who)
        return not team(2).asleep

    for _ in range(3):
        until(lambda: team(2).asleep, 100)  # where others want the core, each look takes a while
        until(awake)
    assert (counts == counts[0]).all()


def test_without_helpers_the_leader_does_it_all_with_the_same_bits():
    x = np.random.default_rng(0).standard_normal(1003).astype(np.float32)
    sums, alone = np.zeros(3, np.float32), np.zeros(3, np.float32)
    for _ in range(200):
        run(slow_sum, 3, x, sums)
    lonely = Team(3)
    lonely.end()
    assert len(helpers()) == 2  # another team's
    divide(lonely, 3, slow_sum, x, alone)
    assert len(set(sums.tolist())) == 1
    np.testing.assert_array_equal(alone, sums)


def test_helpers_end_with_their_leader():
    def rank():
        run(count_up, 2, np.zeros(10, np.int64), np.zeros(2, np.int64))
        assert len(helpers()) == 1

    before = threading.active_count()
    leader = threading.Thread(target=rank)
    leader.start()
    leader.join()
    until(lambda: not helpers())
    assert threading.active_count() == before, threading.enumerate()


AT_WORK = """
import threading
import numpy as np
from dtnn import machine
from dtnn.kernels.parts import run
from dtnn.kernels.updates import sgd_plain

def train():
    x, one = np.ones(200_000, np.float32), np.float32(1)
    with machine.threads(2):
        while True:
            run(sgd_plain, 2, x, x, one, one, False, x, one)
            begun.set()

begun = threading.Event()
threading.Thread(target=train, daemon=True).start()
begun.wait()
"""


@pytest.mark.limit(120)
def test_a_process_ends_while_a_leader_is_at_work():
    for _ in range(8):  # most of the time it would anyway
        done = subprocess.run([sys.executable, "-c", AT_WORK], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr


FORKED = """
import os
import numpy as np
from dtnn import machine
from dtnn.kernels import dense, parts

parts.LEAST_WORK = 0
x, w = np.ones((64, 64), np.float32), np.ones((40, 64), np.float32)

def right():
    y = np.empty((40, 64), np.float32)
    dense.forward(x, w, None, y)
    return (y == 64).all()

with machine.threads(2):
    assert right()
    child = os.fork()
    if not child:
        os._exit(0 if all(right() for _ in range(100)) else 1)
    assert os.waitpid(child, 0)[1] == 0
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # leader and helper on one core
    assert all(right() for _ in range(1000))
"""


@pytest.mark.limit(120)
@pytest.mark.skipif(not hasattr(os, "fork") or not hasattr(os, "sched_setaffinity"), reason="needs fork and affinity")
def test_a_forked_process_and_one_with_a_single_core_do_not_hang():
    environment = os.environ | {"NUMBA_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", FORKED], env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_kernels_that_follow_each_other_are_one_call():
    first, second, who = np.zeros(64, np.int64), np.zeros(64, np.int64), np.zeros(2, np.int64)

    def three():
        for _ in range(MOST):
            run(count_up, 2, first, who)
        call(np.add, first, second, second)
        run(count_up, 2, first, who)

    again = Repeat(three)
    again()
    assert [len(arguments) for _, arguments, _ in again.calls] == [2, 3, 4]  # a row, NumPy's own, a single job
    for _ in range(50):
        again()
    assert (first == 51 * (MOST + 1)).all()
    assert (second == sum(n * (MOST + 1) + MOST for n in range(51))).all()
    assert (who == 2).all()


def test_a_row_is_no_longer_than_an_interrupt_may_wait():
    counts, who = np.zeros(64, np.int64), np.zeros(2, np.int64)
    again = Repeat(lambda: [run(count_up, 2, counts, who) for _ in range(2 * MOST + 1)])
    again()
    assert [len(arguments[1]) for _, arguments, _ in again.calls[:2]] == [MOST, MOST]
    assert len(again.calls) == 3
    again()
    assert (counts == 2 * (2 * MOST + 1)).all()
