"""Clusters that several tests share, and scripts that run in a process of their own."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dtnn.cluster import Cluster, launchers, watchdog

from .alone import alone as _alone

ROOT = Path(__file__).parents[2]


def has_mpi():
    """Whether MPI clusters can be started here."""
    try:
        launchers.mpiexec()
    except RuntimeError:
        return False
    return subprocess.run([sys.executable, "-c", "from mpi4py import MPI"], capture_output=True, timeout=60).returncode == 0


needs_mpi = pytest.mark.skipif(not has_mpi(), reason="no MPI library and launcher in this environment (the extra [mpi] has them)")


@pytest.fixture(scope="session")
def engines():
    """One MPI cluster for all tests; `whole` restarts it where a test has not left it as it was."""
    before = time.perf_counter()
    with Cluster(2, on_wait=False) as cluster:
        print(f"MPI cluster started in {time.perf_counter() - before:.1f} s")
        yield cluster


@pytest.fixture(params=["threads", pytest.param("mpi", marks=needs_mpi)])
def cluster(request):
    """Two ranks, of both kinds in turn."""
    if request.param == "threads":
        with Cluster(2, launcher="threads", on_wait=False) as started:
            yield started
    else:
        yield request.getfixturevalue("engines")


@pytest.fixture
def alone(tmp_path):
    """A place of its own (not that of `tmp_path`) for all that a test starts; at its end nothing of that must be left."""
    with _alone() as place:
        yield place


@pytest.fixture
def script(tmp_path):
    """Start a Python script as a user would, with what it prints piped; ended with the test."""
    started = []

    def start(text, *arguments):
        path = tmp_path / f"script_{len(started)}.py"
        path.write_text(text)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, str(path), *arguments], stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def nothing_left(path, seconds):
    """Whether the cluster of a folder, and the folder, are gone within some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and (watchdog.members(path) or os.path.exists(path)):
        time.sleep(0.05)
    return not watchdog.members(path) and not os.path.exists(path)
