"""Ranks that nothing reaches, in C code, in MPI, in endless loops: a stop ends them all the same, and leaves nothing."""

import ctypes
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from dtnn.cluster import Cluster, RunInterrupted, thread_ranks

from .alone import processes
from .conftest import needs_mpi

pytestmark = needs_mpi

SOON = 10.0  # seconds that everything may take to be gone


def loops(comm):
    while True:
        pass


def loops_deaf(comm):
    """Whatever asks it to end is caught."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        try:
            while True:
                time.sleep(0.001)
        except BaseException:
            pass


def holds_the_lock(comm):
    """A call of C code that keeps the interpreter's lock: no other thread of this process runs, no signal's handler, either."""
    ctypes.PyDLL(None).sleep(1000)


def sleeps(comm):
    time.sleep(1000)


def computes(comm):
    np.linalg.svd(np.random.default_rng(0).standard_normal((6000, 6000)))


def waits(comm):
    comm.Recv(np.zeros(1, np.float32), (comm.rank + 1) % comm.size)


def waits_in_mpi(comm):
    from mpi4py import MPI

    MPI.COMM_WORLD.Recv(np.zeros(1), (comm.rank + 1) % comm.size)


def has_children(comm):
    """One in a group and a session of its own, whose parent is gone."""
    code = "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)"
    subprocess.run([sys.executable, "-c", code], check=True)
    loops(comm)


def stuck(comm, ways):
    yield "all are there"
    time.sleep(0.3)  # so long the publisher has a chance to tell that
    ways[comm.rank](comm)


@pytest.mark.parametrize(
    "ways",
    [
        [loops, holds_the_lock, waits, waits_in_mpi],
        pytest.param([loops_deaf, sleeps, has_children, computes], marks=pytest.mark.slow),
    ],
    ids=lambda ways: "-".join(way.__name__ for way in ways),
)
def test_a_stop_ends_ranks_that_are_stuck(alone, ways):
    cluster = Cluster(len(ways), on_wait=False).start()
    run = cluster.run(stuck, ways)
    next(iter(run))
    time.sleep(0.7)
    began = time.monotonic()
    run.stop()
    cluster.stop()
    print(f"stopped after {time.monotonic() - began:.2f} s")
    assert run.wait(SOON)
    assert not processes(alone)
    assert time.monotonic() - began < SOON
    with pytest.raises(RunInterrupted):
        run.result()


@pytest.mark.slow
@pytest.mark.parametrize("way", [loops, holds_the_lock, waits_in_mpi], ids=lambda way: way.__name__)
def test_a_client_that_ends_or_restarts_does_not_wait_for_ranks_that_are_stuck(alone, script, way):
    text = (
        f"import sys; sys.path.insert(0, {__file__.rpartition('/tests/')[0]!r})\n"
        "import threading, time\n"
        "from dtnn.cluster import Cluster\n"
        f"from tests.cluster.test_stuck import stuck, {way.__name__} as way\n"
        "if __name__ == '__main__':\n"
        "    cluster = Cluster(2, on_wait=False).start()\n"
        "    run = cluster.run(stuck, [way, way]); next(iter(run)); time.sleep(0.5)\n"
        "    began = time.monotonic()\n"
        "    cluster.restart()\n"
        "    print(cluster.run(lambda comm: comm.Allreduce(1)).result(20), time.monotonic() - began)\n"
        "    run = cluster.run(stuck, [way, way]); next(iter(run)); time.sleep(0.5)\n"
        "    print('ends', flush=True)\n"
    )
    client = script(text)
    result, restarted = client.stdout.readline().split()
    assert result == "2"
    assert client.stdout.readline() == "ends\n"
    began = time.monotonic()
    assert client.wait(SOON) == 0
    while processes(alone) and time.monotonic() - began < SOON:
        time.sleep(0.05)
    print(f"{way.__name__}: restarted after {float(restarted):.2f} s, gone after {time.monotonic() - began:.2f} s")
    assert float(restarted) < SOON + 5  # 5 s to start
    assert not processes(alone)


def test_threads_that_loop_end_at_a_bytecode_and_those_that_wait_at_once():
    with Cluster(3, launcher="threads", on_wait=False) as cluster:
        run = cluster.run(lambda comm: loops(comm) if comm.rank < 2 else waits(comm))
        time.sleep(0.3)
        began = time.monotonic()
    assert run.wait(SOON)
    assert time.monotonic() - began < 3
    assert run.state == "interrupted"
    assert run.stuck == []
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("rank ")]


def test_clusters_that_are_interrupted_at_once_leave_the_interpreter_as_it_was():
    def look():
        for _ in range(20):
            with thread_ranks._undisturbed():
                time.sleep(0.001)

    before = sys.getswitchinterval()
    looking = [threading.Thread(target=look) for _ in range(4)]
    [thread.start() for thread in looking]
    [thread.join() for thread in looking]
    assert sys.getswitchinterval() == before
