"""What a cluster promises before and between runs."""

import time

import numpy as np
import pytest

import dtnn
from dtnn.cluster import Cluster, checks, roster
from dtnn.records import Step

from .conftest import needs_mpi


@pytest.mark.parametrize("name", ["mpii", "MPICH", "mip"])
def test_an_unknown_launcher_has_a_nearest_right_one(name):
    with pytest.raises(ValueError, match=rf"launcher='{name.lower()}' is not known; did you mean 'mpi'\?"):
        Cluster(2, launcher=name)


def test_a_launcher_that_is_no_launcher_is_refused():
    with pytest.raises(
        TypeError, match="launcher=5 is none; give 'mpi', 'threads', 'slurm', 'ssh', or an ipyparallel Cluster or Client"
    ):
        Cluster(2, launcher=5)


def test_an_ipyparallel_cluster_that_does_not_run_is_refused(tmp_path):
    ipyparallel = pytest.importorskip("ipyparallel")
    idle = ipyparallel.Cluster(n=2, profile_dir=str(tmp_path), load_profile=False)
    with pytest.raises(RuntimeError, match=r"isn't running; start it first: cluster.start_cluster_sync\(\)"):
        Cluster(launcher=idle).start()


def test_the_nearest_of_thread_is_threads():
    with pytest.raises(ValueError, match="did you mean 'threads'"):
        Cluster(2, launcher="thread")


@pytest.mark.parametrize("ranks", [0, -1])
def test_too_few_ranks_are_refused(ranks):
    with pytest.raises(ValueError, match=rf"ranks={ranks}: give a whole number of at least 1 and at most 4096"):
        Cluster(ranks)


@pytest.mark.parametrize("ranks", [1.5, "two", True])
def test_ranks_that_are_no_number_are_refused(ranks):
    with pytest.raises(TypeError, match=f"ranks={ranks!r}: give a whole number"):
        Cluster(ranks)


def test_numpy_numbers_are_numbers():
    assert Cluster(np.int64(3)).ranks == 3


def test_threads_are_the_cores_shared_out(monkeypatch):  # case 82
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(dtnn.machine, "cores", lambda: 8)
    assert Cluster(2).threads_per_rank == 4
    assert Cluster(16).threads_per_rank == 1
    assert Cluster(2, threads_per_rank=3).threads_per_rank == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert Cluster(2).threads_per_rank == 5


def test_starting_twice_and_stopping_twice_is_harmless(cluster):
    before = [row["pid"] for row in cluster.describe()]
    assert cluster.start() is cluster
    assert [row["pid"] for row in cluster.describe()] == before
    stopped = Cluster(2, launcher="threads")
    stopped.stop()
    stopped.stop()


def test_a_stopped_cluster_says_what_to_do():
    cluster = Cluster(2, launcher="threads")
    with pytest.raises(RuntimeError, match=r"stopped: start it with cluster.start\(\)"):
        cluster.run(lambda comm: None)
    assert cluster.state == "stopped"
    assert [row["state"] for row in cluster.describe()] == ["stopped", "stopped"]


def test_a_cluster_shows_one_row_a_rank(cluster):
    rows = cluster.describe()
    assert [row["rank"] for row in rows] == [0, 1]
    assert all(row["state"] == "idle" and row["pid"] > 0 and row["cores"] >= 1 and row["threads"] >= 1 for row in rows)
    assert all(10 * 2**20 < row["memory"] < 2**33 for row in rows)
    assert repr(cluster).count("idle") == 2
    assert repr(cluster).splitlines()[0].startswith("<Cluster of 2 ranks (")
    assert cluster._repr_html_().count("<tr>") == 3


def test_a_training_shows_its_step(cluster):
    def training(comm):
        for number in range(1, 10**6):
            comm.Barrier()
            yield Step(number, 1, 0.5, 4, 0.1, 0.01, 0.0)

    run = cluster.run(training)
    try:
        next(iter(run))
        before = cluster.describe()
        assert [row["step"] > 0 for row in before] == [True, True]
        while cluster.describe()[0]["step"] == before[0]["step"]:
            time.sleep(0.01)
    finally:
        run.interrupt()
        run.wait(20)


def test_a_training_that_pauses_shows_as_paused():
    with Cluster(2, "threads") as cluster:
        run = dtnn.zoo.mlp().start(dtnn.data.mnist5k(), cluster=cluster, batch_size=500, epochs=1000)
        run.pause()
        while run.state != "paused":
            time.sleep(0.01)
        assert [row["state"] for row in cluster.describe()] == ["training, paused"] * 2
        run.stop()
        run.result(20)
        run._drained.wait(5)
        assert [row["state"] for row in cluster.describe()] == ["idle"] * 2


def test_what_a_rank_is_called_cannot_break_the_page():
    assert "<b>" not in roster.html("2 ranks", [{"rank": 0, "host": "<b>", "state": "<b>"}])


def test_a_running_job_shows_in_the_rows(cluster):
    def endless(comm):
        while True:
            comm.Barrier()
            yield None

    run = cluster.run(endless)
    try:
        assert [row["state"] for row in cluster.describe()] == ["endless", "endless"]
    finally:
        run.interrupt()
        run.wait(20)


def test_missing_engines_are_named():  # case 3
    text = checks.too_few(3, 4, [0, 1, 3], "starting\nerror: no slot for this one")
    assert "3 of 4 engines came" in text
    assert "missing: rank 2" in text
    assert "no slot for this one" in text


def test_engines_that_are_no_mpi_world_are_refused():  # case 8
    alone = {"rank": 0, "size": 1, "library": "MPICH Version: 5.0.2"}
    with pytest.raises(
        RuntimeError, match=r"(?s)4 engines, but MPI world size 1.*MPICH Version: 5.0.2.*launcher here is.*pip install mpich"
    ):
        checks.one_world([alone] * 4, 4)


def test_ranks_that_come_twice_are_refused():  # case 9
    with pytest.raises(RuntimeError, match=r"MPI ranks \[0, 0\], not 0 to 1"):
        checks.one_world([{"rank": 0, "size": 2, "library": ""}] * 2, 2)


def test_versions_that_differ_are_one_table():  # case 11
    mine = checks.own_versions()
    with pytest.warns(checks.VersionWarning, match=r"Use one environment for all:(?s:.*)numpy +\S+ +1\.0"):
        checks.versions([{"versions": {**mine, "numpy": "1.0"}}])
    checks.versions([{"versions": mine}])  # a warning would be an error


@pytest.mark.parametrize("launcher", ["threads", pytest.param("mpi", marks=needs_mpi)])
def test_stopping_a_cluster_ends_its_runs(launcher):
    def endless(comm):
        while True:
            comm.Barrier()
            time.sleep(0.001)

    cluster = Cluster(1, launcher=launcher, on_wait=False).start()
    runs = [cluster.run(endless), cluster.run(endless)]
    time.sleep(0.3)
    cluster.stop()
    assert all(run.wait(10) for run in runs)
    assert [run.state for run in runs] == ["interrupted", "interrupted"]


def print_twice(comm):
    print(f"first of {comm.rank}")
    print(f"second of {comm.rank}")


@needs_mpi
def test_the_log_is_what_ranks_printed_last(engines):
    engines.run(print_twice).result()
    assert engines.log().splitlines()[-4:] == [f"rank {r}: {n} of {r}" for r in (0, 1) for n in ("first", "second")]
    assert engines.log(rank=1) == "first of 1\nsecond of 1"
    assert engines.log(rank=1, lines=1) == "second of 1"
    assert engines.log(lines=1).splitlines()[-2:] == ["rank 0: second of 0", "rank 1: second of 1"]


@needs_mpi
def test_what_a_rank_wrote_past_python_is_in_the_log(engines):
    def write(comm):
        import os

        os.write(2, f"a library's words on rank {comm.rank}\n".encode())

    engines.run(write).result()
    until = time.monotonic() + 10  # the launcher hands it on
    while "words on rank 1" not in engines.log() and time.monotonic() < until:
        time.sleep(0.05)
    assert "a library's words on rank 0" in engines.log(lines=1000)
    assert "a library's words on rank 1" in engines.log(lines=1000)


def test_before_the_first_start_the_log_is_empty():
    assert Cluster(2, launcher="threads").log() == Cluster(2, launcher="threads").log(rank=1) == ""


@pytest.mark.parametrize(
    ("asked", "kind", "text"),
    [
        ({"rank": 2}, ValueError, "rank=2: there are 2 ranks, numbered 0 to 1"),
        ({"rank": -1}, ValueError, "rank=-1: there are 2 ranks"),
        ({"rank": "all"}, TypeError, "rank='all': give a whole number"),
        ({"rank": True}, TypeError, "rank=True: give a whole number"),
        ({"lines": 0}, ValueError, "lines=0: give a whole number of at least 1"),
        ({"lines": "5"}, TypeError, "lines='5': give a whole number"),
    ],
)
def test_a_log_that_can_not_be_is_told(asked, kind, text):
    with pytest.raises(kind, match=text):
        Cluster(2, launcher="threads").log(**asked)
