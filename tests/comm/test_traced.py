"""A trace says what was done, and changes nothing."""

import collections

import numpy as np
import pytest

from dtnn.comm import Serial, run_threads
from dtnn.comm.collectives import ring
from dtnn.comm.traced import Traced
from dtnn.records import Message, Span
from tests.comm.contract import CHECKS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("size", [1, 3])
def test_traced_communicator_does_what_every_communicator_must(check, size):
    run_threads(lambda comm: check(Traced(comm)), size)


class Clock:
    """Each look at it takes a second."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


def test_messages_have_both_ends_bytes_and_time():
    def job(comm):
        traced = Traced(comm, clock=Clock())
        if comm.rank == 0:
            traced.Send(np.zeros(3, np.float32), 1, tag=4)
        else:
            traced.Recv(np.zeros(3, np.float32), 0, tag=4)
        traced.Sendrecv(np.zeros(2), 1 - comm.rank, np.zeros(2), 1 - comm.rank)
        return traced.notes

    first, second = run_threads(job, 2)
    assert first == [Message(0, 1, 4, 12, 1.0, 1.0), Message(0, 1, 0, 16, 3.0, 1.0), Span(0, "Recv from 1", 16, 3.0, 1.0)]
    assert second == [Span(1, "Recv from 0", 12, 1.0, 1.0), Message(1, 0, 0, 16, 3.0, 1.0), Span(1, "Recv from 0", 16, 3.0, 1.0)]


def test_collectives_are_spans():
    traced = Traced(Serial(), clock=Clock())
    traced.Allreduce(np.zeros(2))
    traced.Bcast(np.zeros(3))
    traced.Gather(np.zeros(1))
    traced.Barrier()
    request = traced.Iallreduce(np.zeros(4))
    assert request.Test()
    request.Wait()
    assert [(note.name, note.bytes, note.seconds) for note in traced.notes] == [
        ("Allreduce", 16, 1.0),
        ("Bcast", 24, 1.0),
        ("Gather", 8, 1.0),
        ("Barrier", 0, 1.0),
        ("Iallreduce", 32, 1.0),
    ]


def test_notes_may_be_bounded():
    traced = Traced(Serial(), notes=collections.deque(maxlen=3))
    for _ in range(10):
        traced.Barrier()
    assert len(traced.notes) == 3


def test_wait_of_a_fast_rank_shows():
    def job(comm):
        traced = Traced(comm)
        if comm.rank:
            import time

            time.sleep(0.05)
        traced.Barrier()
        return traced.notes[0].seconds

    fast, slow = run_threads(job, 2)
    assert fast > 0.045
    assert slow < fast


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_one_that_is_switched_off_does_the_same_and_notes_nothing(check):
    def job(comm):
        traced = Traced(comm)
        traced.on = False
        check(traced)
        return traced.notes

    assert run_threads(job, 3) == [[], [], []]


def test_it_can_be_switched_on_for_a_while():
    def job(comm):
        traced, counts = Traced(comm), []
        for on in (False, True, False):
            traced.on = on
            ring(traced, np.ones(6))
            counts.append(len(traced.notes))
        return counts

    assert run_threads(job, 2) == [[0, 4, 4]] * 2


def test_a_part_is_traced_under_the_names_of_the_whole():
    def job(comm):
        traced = Traced(comm)
        part = traced.Split(comm.rank % 2, key=-comm.rank)  # ranks 4, 2, 0 and 3, 1
        inner = part.Split(0)
        traced.notes.clear()
        ring(inner, np.ones(6))
        part.Barrier()
        traced.on = False
        ring(inner, np.ones(6))
        assert not part.on
        inner.on = True
        assert traced.on
        spans = [(note.rank, note.name) for note in traced.notes if isinstance(note, Span)]
        return {(note.source, note.dest) for note in traced.notes if isinstance(note, Message)}, spans

    found = run_threads(job, 5)
    assert [messages for messages, _ in found] == [{(0, 4)}, {(1, 3)}, {(2, 0)}, {(3, 1)}, {(4, 2)}]
    assert found[0][1] == [(0, "Recv from 2")] * 4 + [(0, "Barrier")]
    assert found[1][1] == [(1, "Recv from 3")] * 2 + [(1, "Barrier")]


def test_who_takes_no_part_gets_none():
    assert run_threads(lambda comm: Traced(comm).Split(None if comm.rank else 0) is None, 2) == [False, True]
