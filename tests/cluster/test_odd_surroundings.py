"""Surroundings in which a cluster can't start, or only seems not to: it starts right, or says in finite time what to do."""

import json
import os
import re
import time
from pathlib import Path

import pytest

from dtnn.cluster import Cluster, checks, doctor, folder, launchers
from dtnn.cluster.asked import asked

from .conftest import needs_mpi

SOON = 30.0  # seconds

STALE = {
    "url": "tcp://127.0.0.1:1", "control": 1, "mux": 1, "task": 1, "notification": 1, "iopub": 1, "broadcast": 1, "hb_ping": 1,
    "registration": 1, "ssh": "", "interface": "tcp://127.0.0.1", "location": "nowhere", "key": "old", "cluster_id": "dtnn",
}  # fmt: skip
TOLD = {
    "no mpi4py": ("ModuleNotFoundError: No module named 'mpi4py'", "pip install mpi4py"),
    "no library": ("RuntimeError: cannot load MPI library\nlibmpi.so: cannot open shared object file", "pip install mpich"),
    "two vendors": (
        "check_MPIR_CVAR_PMI_VERSION(167):  Runtime environment uses unsupported PMI version PMIx. Aborting.",
        "Launcher and library are of different vendors.*pip install mpich",
    ),
    "too many ranks": ("There are not enough slots available in the system to satisfy the 4 slots", "fewer ranks"),
    "root": ("prterun has detected an attempt to run as root.\n... --allow-run-as-root", "The launcher refuses root"),
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where folders of clusters are, for this test alone."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


@needs_mpi
@pytest.mark.slow
@pytest.mark.processes
def test_connection_files_of_a_dead_controller_hold_nobody_up(place, monkeypatch):  # case 5
    """Neither in the user's profile of ipyparallel, nor in what is left of another cluster of ours."""
    for where in (place / "ipython" / "profile_default" / "security", Path(folder.make()) / "security"):
        where.mkdir(parents=True)
        for name in ("ipcontroller-client.json", "ipcontroller-engine.json", "ipcontroller-dtnn-client.json"):
            (where / name).write_text(json.dumps(STALE))
    monkeypatch.setenv("IPYTHONDIR", str(place / "ipython"))
    began = time.monotonic()
    with Cluster(2, on_wait=False) as cluster:
        assert cluster.run(lambda comm: comm.Allreduce(1)).result(20) == 2
    assert time.monotonic() - began < SOON


def test_the_doctor_tells_what_dead_processes_have_left_behind(place):
    assert list(doctor._left_behind()) == []
    path = Path(folder.make())
    path = path.rename(path.with_name("c999999999-dead"))
    (finding,) = doctor._left_behind()
    assert (finding.state, finding.remedy) == ("warn", "dtnn clean")
    assert str(path) in finding.text


@pytest.mark.parametrize("kind", TOLD)
def test_the_log_of_engines_that_never_came_leads_to_a_remedy(kind):  # cases 15, 16, 17, 18, E7, E9
    log, words = TOLD[kind]
    text = checks.too_few(0, 2, [], log)
    assert text.startswith("0 of 2 engines came; missing: rank 0, rank 1. Nothing was started. ")
    found = text.partition(" The end of their log:")[0]
    assert re.search(words, found), text
    assert log.splitlines()[-1] in text


@needs_mpi
def test_without_an_mpi_library_a_start_names_the_wheel(place, monkeypatch):  # case 17
    monkeypatch.setenv("MPI4PY_LIBMPI", "/nowhere/libmpi.so")
    began = time.monotonic()
    with pytest.raises(RuntimeError, match=r"There is no MPI library that mpi4py finds; remedy: .*pip install \S+ .*threads"):
        Cluster(1, on_wait=False).start()
    assert time.monotonic() - began < SOON
    assert not [name for name in os.listdir(folder.place()) if name.startswith("c")]


@needs_mpi
@pytest.mark.slow
@pytest.mark.processes
def test_more_ranks_than_cores_start(place):  # case 15
    with Cluster(5, on_wait=False) as cluster:
        run = cluster.run(lambda comm: comm.Allreduce(comm.rank))
        assert run.result(30) == 10
        assert {row["threads"] for row in cluster.describe()} == {1}


def test_open_mpi_may_run_as_root_and_with_more_ranks_than_cores():  # cases 15, 16, E7
    said = launchers.environment("nowhere", asked(8))
    assert said["OMPI_ALLOW_RUN_AS_ROOT"] == said["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] == "1"
    assert said["PRTE_MCA_rmaps_default_mapping_policy"] == ":oversubscribe"


@needs_mpi
@pytest.mark.slow
@pytest.mark.processes
def test_engines_of_another_dtnn_are_told_in_a_table(place, monkeypatch):  # case 11
    monkeypatch.setattr(checks, "own_versions", lambda: {"Python": "3.9.1", "numpy": "1.0", "numba": "0.1", "dtnn": "9.9"})
    with pytest.warns(checks.VersionWarning, match=r"(?s)the ranks don't run what this notebook runs.*3\.9\.1.*dtnn +9\.9"):
        Cluster(1, on_wait=False).start().stop()


@needs_mpi
@pytest.mark.slow
@pytest.mark.processes
def test_a_home_that_does_not_exist_or_cannot_be_written_is_no_hindrance(place, monkeypatch, script):  # case 80
    """All a cluster writes is in its folder; kernels are compiled anew where they can't be kept."""
    for name in ("XDG_CACHE_HOME", "DTNN_CACHE_DIR", "IPYTHONDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/proc/nowhere")
    client = script(
        "from dtnn.cluster import Cluster\n"
        "if __name__ == '__main__':\n"
        "    with Cluster(2, on_wait=False) as cluster:\n"
        "        print(cluster.run(lambda comm: comm.Allreduce(1)).result(20))\n"
    )
    out, _ = client.communicate(timeout=50)
    assert out.strip() == "2"
    assert client.returncode == 0
