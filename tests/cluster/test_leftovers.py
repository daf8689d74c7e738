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
    """Only clusters of these tests are looked at: others run on this machine."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    everywhere = leftovers.processes_by_folder

    def here():
        return {path: processes for path, processes in everywhere().items() if path.startswith(str(tmp_path))}

    monkeypatch.setattr(leftovers, "processes_by_folder", here)


@pytest.fixture
def pretended():
    """A cluster of one sleeping process, and another process that has nothing to do with it."""
    path = folder.make()
    sleep = [sys.executable, "-c", "import time; time.sleep(100)"]
    processes = [subprocess.Popen(sleep, env={**os.environ, watchdog.VARIABLE: path}), subprocess.Popen(sleep)]
    yield path, *processes
    for process in processes:
        process.kill()
        process.wait()


def wait_until_marked(path):
    while not watchdog.members(path):  # a new process carries the mark only when its program has begun
        pass


def test_a_cluster_with_its_client_is_listed_and_left_alone(pretended):
    path, member, _ = pretended
    wait_until_marked(path)
    leftovers.sign(path, 3)
    (found,) = [cluster for cluster in leftovers.found() if cluster.folder == path]
    assert (found.ranks, found.client, found.processes, found.orphan) == (3, os.getpid(), [member.pid], False)
    assert "3 ranks, 1 processes, since" in str(found)
    assert path not in [cluster.folder for cluster in leftovers.clean()]
    assert member.poll() is None


def test_a_cluster_without_its_client_is_cleaned_away(pretended):
    path, member, stranger = pretended
    wait_until_marked(path)
    leftovers.sign(path, 2)
    values = json.loads(Path(path, leftovers.CLIENT).read_text())
    with open(os.path.join(path, leftovers.CLIENT), "w") as file:
        json.dump({**values, "born": values["born"] - 5.0}, file)  # the number was given to another process since
    assert path in [cluster.folder for cluster in leftovers.clean()]
    assert member.wait(10) != 0
    assert stranger.poll() is None
    assert not os.path.exists(path)


def test_a_cluster_of_another_container_is_left_alone():
    path = folder.make()
    with open(os.path.join(path, leftovers.CLIENT), "w") as file:
        json.dump({"pid": 1, "born": 1.0, "place": "elsewhere", "ranks": 2, "started": 0.0}, file)
    (found,) = [cluster for cluster in leftovers.found() if cluster.folder == path]
    assert not found.here
    assert not found.orphan
    assert "started elsewhere" in str(found)
    leftovers.clean(everything=True)
    assert os.path.exists(path)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"pid": "x"}'])
def test_where_the_note_is_damaged_the_folders_name_tells_the_client(text):
    path = folder.make()
    with open(os.path.join(path, leftovers.CLIENT), "w") as file:
        file.write(text)
    assert path not in [cluster.folder for cluster in leftovers.clean()]  # this process is the client, and lives
    gone = subprocess.Popen(["true"])
    gone.wait()
    os.rename(path, path := path.replace(f"c{os.getpid()}-", f"c{gone.pid}-"))
    with open(os.path.join(path, leftovers.CLIENT), "w") as file:
        file.write(text)
    assert path in [cluster.folder for cluster in leftovers.clean()]
    assert not os.path.exists(path)


@needs_mpi
def test_a_real_cluster_is_listed():
    from dtnn.cluster import Cluster

    with Cluster(1, on_wait=False) as cluster:
        (found,) = [found for found in leftovers.found() if found.folder == cluster._crew.folder]
        assert found.client == os.getpid()
        assert cluster.describe()[0]["pid"] in found.processes
