"""A rank that waits looks round, and doesn't burn its core for ever."""

import threading
import time

import pytest

from dtnn.comm import polling
from dtnn.comm.polling import Patience, is_crowded


@pytest.mark.parametrize("crowded", [False, True])
def test_wait_ends_with_what_look_raises(crowded):
    def look():
        raise KeyError("seen")

    with pytest.raises(KeyError, match="seen"):
        Patience(crowded).wait(lambda: False, look)


@pytest.mark.parametrize("crowded", [False, True])
def test_long_wait_sleeps(crowded):
    until = time.perf_counter() + 0.5
    begin = time.thread_time()
    Patience(crowded).wait(lambda: time.perf_counter() > until, lambda: None)
    assert time.thread_time() - begin < 0.25, "half the core was burnt"


def test_wait_for_many_bytes_stays_awake(monkeypatch):
    slept, here, sleep = [], threading.get_ident(), time.sleep
    # time.sleep is everybody's: what other threads do is their affair
    monkeypatch.setattr(polling.time, "sleep", lambda s: slept.append(s) if threading.get_ident() == here else sleep(s))
    until = time.perf_counter() + 0.06
    Patience(False).wait(lambda: time.perf_counter() > until, lambda: None, size=10_000_000)
    assert not slept
    until = time.perf_counter() + 0.06
    Patience(False).wait(lambda: time.perf_counter() > until, lambda: None, size=10)
    assert slept


class World:
    """Ranks of two hosts, each with the cores it may use."""

    def __init__(self, hosts):
        self.hosts = hosts

    def allgather(self, mine):
        host, _ = mine
        return [(host if name == "here" else name, cores) for name, cores in self.hosts]


@pytest.mark.parametrize(
    ("hosts", "crowded"),
    [
        ([("here", [0, 1])] * 2, False),
        ([("here", [0, 1])] * 3, True),
        ([("here", [0]), ("here", [1])], False),  # tied to a core each
        ([("here", [0]), ("here", [0])], True),
        ([("here", [0]), ("there", [0])], False),
    ],
)
def test_crowded_means_more_ranks_than_cores_of_a_host(hosts, crowded):
    assert is_crowded(World(hosts)) is crowded
