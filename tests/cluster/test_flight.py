"""What goes down to the ranks of a run, and what comes up, where engines are played."""

import base64
import time
from concurrent.futures import Future

import pytest

from dtnn.cluster.conducted import GRACE, Conducted
from dtnn.cluster.flight import LATE_RECORDS, Flight
from dtnn.cluster.outcome import Outcome
from dtnn.cluster.parcel import unpack
from dtnn.commands import Pause, Rate, Resume


class Engines:
    """One rank, which begins the run only after some messages, and writes down what it hears from then on."""

    size = 1

    def __init__(self, deaf):
        self.deaf, self.heard, self.mail = deaf, [], []

    def message(self, rank, what, number, command):
        self.mail.append((unpack(base64.b64decode(command))[0], Future()))
        return self.mail[-1][1]

    def read(self):
        for command, reply in [self.mail.pop(0) for _ in list(self.mail)]:
            begun = self.deaf <= 0
            self.deaf -= 1
            self.heard += [command] * begun
            reply.set_result({"content": {"begun": begun, "heard": begun}})


@pytest.mark.parametrize("deaf", range(6))
def test_commands_are_heard_in_their_order_whenever_the_run_begins(deaf):
    run, engines = Conducted(1, takes_commands=True), Engines(deaf)
    flight, asked = Flight(engines, run, 7, []), [Pause("first"), Rate(0.5), Resume()]
    for command in asked:
        run._request("command", command)
        flight._serve()
    for _ in range(20):
        engines.read()
        flight._serve()
    assert engines.heard == asked


class Landed:
    """What a rank that has ended has answered; of what it told nothing has come."""

    data = {}

    def __init__(self, ready=True):
        self._ready = ready

    def ready(self):
        return self._ready


class Quiet:
    """Ranks that end, be it because they are interrupted, and whose records never come."""

    def __init__(self, answers, state):
        self.size, self.answers, self.state, self.told = len(answers), answers, state, {}

    def message(self, rank, what, number, **_):
        self.told[rank, what] = time.monotonic()
        self.answers[rank]._ready = self.answers[rank]._ready or what == "interrupt"
        return Future()

    def outcome(self, rank, answer):
        return Outcome(rank, self.state), 3, []

    def silent(self, rank):
        return False

    def signal(self, rank):
        raise AssertionError("they have heard")


def flown(answers, state, interrupted):
    """A run with these answers, seen through: (seconds it took, run, engines, when it began)."""
    run, engines, began = Conducted(len(answers)), Quiet(answers, state), time.monotonic()
    if interrupted:
        run._request("interrupt", None)
    Flight(engines, run, 7, answers).see_through()
    return time.monotonic() - began, run, engines, began


def test_records_that_never_come_are_waited_for_once_not_once_a_rank():
    took, run, *_ = flown([Landed() for _ in range(4)], "done", interrupted=False)
    assert LATE_RECORDS <= took < LATE_RECORDS + 1.0
    assert [str(one) for one in run.records] == [
        f"3 batches of rank {rank}'s records were lost on their way" for rank in range(4)
    ]


def test_who_interrupts_waits_less_long_for_records():
    took, run, *_ = flown([Landed(ready=False) for _ in range(4)], "interrupted", interrupted=True)
    assert took < GRACE
    assert not run.stuck
    assert len(run.outcomes) == 4


def test_an_interrupt_is_told_while_records_of_another_rank_are_waited_for():
    took, _, engines, began = flown([Landed(), Landed(ready=False)], "interrupted", interrupted=True)
    assert engines.told[1, "interrupt"] - began < 0.5
    assert took < GRACE
