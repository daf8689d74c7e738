"""What the processes of a cluster do without: it is counted a rank, so thirty clusters on one host count it sixty times."""

import gc
import importlib.util
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import dtnn.model
import dtnn.plots.curves  # noqa: F401  as in a notebook: what draws is loaded here
from dtnn.cluster import Cluster
from dtnn.cluster.trimming import Trimmer, trim

from .conftest import needs_mpi

glibc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc")


def controller(cluster):
    return psutil.Process(cluster._crew.processes._controller.pid)


def loaded(comm):
    return set(sys.modules), importlib.util.find_spec("debugpy") is not None


@needs_mpi
def test_an_engine_has_loaded_what_a_training_needs_and_nothing_that_draws_or_debugs():
    with Cluster(1, on_wait=False) as cluster:
        there, known = cluster.run(loaded).result(60)
    assert {"numba", "dtnn.model", "dtnn.training.train"} <= there
    assert not {"matplotlib", "PIL", "debugpy", "pydevd", "dtnn.plots", "numba.np.linalg"} & there
    assert known == (importlib.util.find_spec("debugpy") is not None)  # whoever wants to debug there still can


@needs_mpi
@glibc
def test_the_controller_is_one_process_without_numpy(engines):
    one = controller(engines)
    assert one.children() == []
    assert "numpy" not in Path(f"/proc/{one.pid}/maps").read_text()


@needs_mpi
def test_the_controller_keeps_nothing_of_what_went_through_it(engines):
    data = np.zeros(5_000_000, np.uint8)
    engines.run(len_of, data).result(60)
    before = controller(engines).memory_info().rss
    for _ in range(10):
        assert engines.run(len_of, data).result(60) == len(data)
    assert controller(engines).memory_info().rss - before < 3 * data.nbytes  # ten runs on two ranks are twenty times that


def len_of(comm, data):
    return len(data)


@needs_mpi
def test_a_rank_has_its_data_once(engines):
    assert engines.run(large_buffers, np.zeros(5_000_000, np.uint8)).result(60) == []


def large_buffers(comm, data):
    """The buffers that messages came in, as large as the data."""
    gc.collect()
    seen = [one for holder in gc.get_objects() if type(holder) is list for one in holder if type(one) in (memoryview, bytes)]
    return [len(one) for one in seen if len(one) >= data.nbytes]


def test_memory_is_given_back_some_times_after_it_was_asked_for_last():
    calls = []
    trimmer = Trimmer(lambda: calls.append(len(calls)), pauses=(0.2, 0.05))
    for _ in range(50):  # run after run: nothing yet
        trimmer.soon()
    assert calls == []
    wait_for(lambda: len(calls) == 2)
    thread = trimmer._thread
    trimmer.soon()
    wait_for(lambda: len(calls) == 4)
    assert trimmer._thread is thread


def wait_for(holds):
    until = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


HOLES = """
from dtnn.cluster.listening import resident
from dtnn.cluster.trimming import trim
blocks = [bytes(2000) for _ in range(20_000)]  # 40 MB, each from malloc
last = blocks[-1]
before = resident()
del blocks
kept = before - resident()
trim()
print(kept < 10e6, before - resident() > 30e6)
"""


@glibc
def test_what_is_free_goes_back_to_the_system():
    trim()
    found = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, timeout=60)
    assert found.stdout.split() == ["True", "True"], found.stderr
