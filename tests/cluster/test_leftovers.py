"""What is listed and cleaned: this user's clusters, nobody else's processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dtnn.cluster import folder, leftovers, watchdog

from .conftest import needs_mpi


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.fixture
def pretended():
    """A cluster of one sleeping process, and another process that has nothing to do with it."""
    path = folder.make()
    mark = os.path.basename(path)
    sleep = [sys.executable, "-c", "import time; time.sleep(100)"]
    processes = [subprocess.Popen(sleep, env={**os.environ, watchdog.VARIABLE: mark}), subprocess.Popen(sleep)]
    yield path, mark, *processes
    for process in processes:
        process.kill()
        process.wait()


def wait_until_marked(mark):
    while not watchdog.members(mark):  # a new process carries the mark only when its program has begun
        pass


def test_a_cluster_with_its_client_is_listed_and_left_alone(pretended):
    path, mark, member, _ = pretended
    wait_until_marked(mark)
    leftovers.sign(path, 3)
    (found,) = [cluster for cluster in leftovers.found() if cluster.mark == mark]
    assert (found.ranks, found.client, found.processes, found.orphan) == (3, os.getpid(), [member.pid], False)
    assert "3 ranks, 1 processes, since" in str(found)
    assert mark not in [cluster.mark for cluster in leftovers.clean()]
    assert member.poll() is None


def test_a_cluster_without_its_client_is_cleaned_away(pretended):
    path, mark, member, stranger = pretended
    wait_until_marked(mark)
    leftovers.sign(path, 2)
    values = json.loads(Path(path, leftovers.CLIENT).read_text())
    with open(os.path.join(path, leftovers.CLIENT), "w") as file:
        json.dump({**values, "born": values["born"] - 5.0}, file)  # the number was given to another process since
    assert mark in [cluster.mark for cluster in leftovers.clean()]
    assert member.wait(10) != 0
    assert stranger.poll() is None
    assert not os.path.exists(path)


def test_a_cluster_of_another_container_is_left_alone():
    path = folder.make()
    with open(os.path.join(path, leftovers.CLIENT), "w") as file:
        json.dump({"pid": 1, "born": 1.0, "place": "elsewhere", "ranks": 2, "started": 0.0}, file)
    (found,) = [cluster for cluster in leftovers.found() if cluster.mark == os.path.basename(path)]
    assert not found.here
    assert not found.orphan
    assert "started elsewhere" in str(found)
    leftovers.clean(everything=True)
    assert os.path.exists(path)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"pid": "x"}'])
def test_a_damaged_note_is_an_orphans(text):
    path = folder.make()
    with open(os.path.join(path, leftovers.CLIENT), "w") as file:
        file.write(text)
    assert os.path.basename(path) in [cluster.mark for cluster in leftovers.clean()]
    assert not os.path.exists(path)


@needs_mpi
def test_a_real_cluster_is_listed():
    from dtnn.cluster import Cluster

    with Cluster(1, on_wait=False) as cluster:
        (found,) = [found for found in leftovers.found() if found.mark == cluster._crew.mark]
        assert found.client == os.getpid()
        assert cluster.describe()[0]["pid"] in found.processes
