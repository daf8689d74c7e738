"""What is listed and cleaned: this user's clusters, nobody else's processes."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from dtnn import cli
from dtnn.cluster import folder, leftovers, signature, watchdog

from .conftest import needs_mpi


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch):
    """Only clusters of these tests are looked at: others run on this machine."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
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
    signature.sign(path, 3)
    (found,) = [cluster for cluster in leftovers.found() if cluster.folder == path]
    assert (found.ranks, found.client, found.processes, found.orphan) == (3, os.getpid(), [member.pid], False)
    assert found.host == platform.node()
    assert "3 ranks, 1 processes, 0 s old, in use by process" in str(found)
    assert path not in [cluster.folder for cluster in leftovers.clean()]
    assert member.poll() is None


def test_a_cluster_without_its_client_is_cleaned_away(pretended):
    path, member, stranger = pretended
    wait_until_marked(path)
    signature.sign(path, 2)
    values = json.loads(Path(path, watchdog.CLIENT).read_text())
    with open(os.path.join(path, watchdog.CLIENT), "w") as file:
        json.dump({**values, "born": values["born"] - 5.0}, file)  # the number was given to another process since
    assert path in [cluster.folder for cluster in leftovers.clean()]
    assert member.wait(10) != 0
    assert stranger.poll() is None
    assert not os.path.exists(path)


def test_a_cluster_of_another_container_is_left_alone():
    path = folder.make()
    with open(os.path.join(path, watchdog.CLIENT), "w") as file:
        json.dump({"pid": 1, "born": 1.0, "place": "elsewhere", "ranks": 2, "started": 0.0}, file)
    (found,) = [cluster for cluster in leftovers.found() if cluster.folder == path]
    assert not found.here
    assert not found.orphan
    assert "of another host" in str(found)
    leftovers.clean(everything=True)
    assert os.path.exists(path)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"pid": "x"}'])
def test_where_the_note_is_damaged_the_folders_name_tells_the_client(text):
    path = folder.make()
    with open(os.path.join(path, watchdog.CLIENT), "w") as file:
        file.write(text)
    assert path not in [cluster.folder for cluster in leftovers.clean()]  # this process is the client, and lives
    gone = subprocess.Popen(["true"])
    gone.wait()
    os.rename(path, path := path.replace(f"c{os.getpid()}-", f"c{gone.pid}-"))
    with open(os.path.join(path, watchdog.CLIENT), "w") as file:
        file.write(text)
    assert path in [cluster.folder for cluster in leftovers.clean()]
    assert not os.path.exists(path)


def test_the_command_lists_and_cleans_what_was_left_behind_only(pretended, capsys):
    path, member, stranger = pretended
    wait_until_marked(path)
    signature.sign(path, 3)
    behind = folder.make()  # of a client that ended before it wrote who it is
    os.rename(behind, behind := behind.replace(f"c{os.getpid()}-", "c99999999-"))
    assert cli.main(["list"]) == 0
    head, *rows, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["client", "ranks", "age", "host", "state", "folder"]
    assert sorted(row.split()[-1] for row in rows) == sorted([path, behind])
    assert any(row.split()[:2] == [str(os.getpid()), "3"] and "in use" in row for row in rows)
    assert any("left behind" in row for row in rows)
    assert "`dtnn clean`" in last
    assert cli.main(["clean"]) == 0
    told = capsys.readouterr().out
    assert f"ended {behind}" in told
    assert f"left  {path}" in told
    assert "`dtnn clean --all` ends it" in told
    assert not os.path.exists(behind)
    assert member.poll() is None
    assert cli.main(["clean", "--all"]) == 0
    assert f"ended {path}" in capsys.readouterr().out
    assert member.wait(10) != 0
    assert stranger.poll() is None
    assert cli.main(["list"]) == 0
    assert capsys.readouterr().out == "no clusters of yours on this host\n"


def test_clusters_that_other_hosts_read_are_listed_too(tmp_path):
    path = tmp_path / "state" / "dtnn" / f"c{os.getpid()}-ab"
    path.mkdir(parents=True)
    assert [cluster.folder for cluster in leftovers.found()] == [str(path)]


def test_words_for_kernels_that_never_came_are_forgotten_after_a_day():
    path = folder.make()
    signature.sign(path, 2, session="abc")
    watchdog.leave_word(path)
    word = os.path.join(folder.place(), watchdog.note_of("abc"))
    assert signature.read(word)["ranks"] == 2
    leftovers.clean()
    assert os.path.exists(word)
    os.utime(word, (0, 0))
    leftovers.clean()
    assert not os.path.exists(word)
    signature.sign(path, 2, session="../abc")  # not a name of ours: nothing is written beside the folder
    before = os.listdir(folder.place())
    watchdog.leave_word(path)
    assert os.listdir(folder.place()) == before


@pytest.mark.parametrize("value", ["x", [1], {"a": 1}, None])
def test_a_note_of_odd_values_is_listed_as_unknown(value):
    path = folder.make()
    odd = dict.fromkeys(("pid", "born", "ranks", "started", "host"), value)
    with open(os.path.join(path, watchdog.CLIENT), "w") as file:
        json.dump(odd, file)
    (found,) = leftovers.found()
    assert "?" in leftovers.table([found])
    assert found.ranks is None


@needs_mpi
def test_a_real_cluster_is_listed():
    from dtnn.cluster import Cluster

    with Cluster(1, on_wait=False) as cluster:
        (found,) = [found for found in leftovers.found() if found.folder == cluster._crew.folder]
        assert found.client == os.getpid()
        assert cluster.describe()[0]["pid"] in found.processes
