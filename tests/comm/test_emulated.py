"""A slow network, a slow rank, a lost and a damaged message: each shows where it should, and nothing else changes."""

import re

import numpy as np
import pytest

from dtnn.comm import Deadlock, Serial, collectives, cost, run_threads
from dtnn.comm.collectives import WrongSum, check_allreduce
from dtnn.comm.emulated import Emulated
from tests.comm.contract import CHECKS


class Clock:
    """Time passes only while somebody sleeps, or works."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def emulated(comm, **settings):
    clock = Clock()
    return Emulated(comm, clock=clock, sleep=clock.sleep, **settings), clock


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("size", [1, 3])
def test_slow_network_does_what_every_communicator_must(check, size):
    run_threads(lambda comm: check(Emulated(comm, latency=1e-6, bandwidth=1e10, slow={0: 1.1})), size)


def test_messages_take_latency_and_bandwidth():
    def job(comm):
        link, clock = emulated(comm, latency=2.0, bandwidth=100.0)
        link.Sendrecv(np.zeros(50), 1 - comm.rank, np.zeros(50), 1 - comm.rank)
        return clock.now

    assert run_threads(job, 2) == [2.0 + 400 / 100] * 2


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_ring_on_a_slow_network_takes_what_its_formula_says(ranks):
    def job(comm):
        link, clock = emulated(comm, latency=1.0, bandwidth=1.0)
        collectives.ring(link, np.ones(16 * ranks))
        return clock.now

    assert run_threads(job, ranks) == pytest.approx([cost.ring(ranks, 128 * ranks).seconds(1.0, 1.0)] * ranks)


def test_collectives_of_the_library_take_what_the_best_algorithm_would():
    def job(comm):
        link, clock = emulated(comm, latency=1.0, bandwidth=1.0)
        link.Allreduce(np.ones(3))
        return clock.now

    assert run_threads(job, 4) == [cost.rabenseifner(4, 24).seconds(1.0, 1.0)] * 4


@pytest.mark.parametrize(("ranks", "rounds"), [(2, 1), (3, 2), (4, 2), (5, 3), (9, 4)])
def test_broadcast_and_gather_take_what_a_binomial_tree_would(ranks, rounds):
    def job(comm):
        link, clock = emulated(comm, latency=1000.0, bandwidth=2.0)
        link.Bcast(np.ones(3), root=1)
        broadcast = clock.now
        link.Gather(np.ones(3), root=1)
        gathered = clock.now
        link.Barrier()
        return broadcast, gathered - broadcast, clock.now - gathered

    seconds = rounds * (1000 + 24 / 2), rounds * 1000 + (ranks - 1) * 24 / 2, rounds * 1000
    assert run_threads(job, ranks) == [pytest.approx(seconds)] * ranks


def test_requests_share_the_link_and_hide_behind_work():
    def job(comm):
        link, clock = emulated(comm, latency=1.0)
        requests = [link.Iallreduce(np.ones(3)) for _ in range(2)]  # 2 messages each, one after the other
        clock.sleep(1.5)  # work
        seen = [request.Test() for request in requests]
        requests[1].Wait()
        return clock.now, seen, requests[0].Test()

    assert run_threads(job, 2) == [(4.0, [False, False], True)] * 2


def test_slow_rank_takes_longer_between_calls_only():
    def job(comm):
        link, clock = emulated(comm, slow={1: 3.0})
        for _ in range(2):
            clock.sleep(1.0)  # work
            link.Barrier()
        return clock.now

    assert run_threads(job, 2) == [2.0, 6.0]


def test_lost_message_is_a_deadlock_that_is_told():
    def job(comm):
        collectives.ring(Emulated(comm, lose=(1, 2)), np.ones(6))

    with pytest.raises(Deadlock, match="rank 2 waits to receive float64"):
        run_threads(job, 3)


def test_damaged_message_is_found():
    with pytest.raises(WrongSum, match="2 ranks, 3 numbers"):
        check_allreduce(lambda comm, array: collectives.ring(Emulated(comm, damage=(0, 1)), array), ranks=[2])


def test_sender_keeps_what_was_damaged_on_the_way():
    def job(comm):
        link, array = Emulated(comm, damage=(0, 0)), np.ones(4)
        link.Send(array, 1) if comm.rank == 0 else link.Recv(array, 0)
        return array.tolist()

    sent, received = run_threads(job, 2)
    assert sent == [1, 1, 1, 1]
    assert sum(a != b for a, b in zip(sent, received)) == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"latency": -1}, ["latency=-1", "0 or more"]),
        ({"bandwidth": 0}, ["bandwidth=0", "leave it out"]),
        ({"slow": {0: 0.5}}, ["0.5", "1 or more"]),
        ({"slow": {7: 2.0}}, ["slow rank=7", "one rank"]),
        ({"lose": (3, 0)}, ["rank=3", "one rank"]),
    ],
)
def test_mistakes_are_told(settings, words):
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        Emulated(Serial(), **settings)
    assert words[1] in str(caught.value)
