"""Engines as a job of a real Slurm: started, waited for, killed, cancelled; and a batch job that trains."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dtnn
from dtnn.cluster import Cluster, Run, asked, slurm, watchdog

from . import slurm_here
from .conftest import ROOT, needs_mpi, nothing_left
from .test_attach import FIRST, SECOND, folder_of

needs_slurm = pytest.mark.skipif(bool(slurm_here.why_not()), reason=slurm_here.why_not() or "Slurm can be started here")

WORK = """
import json, os, signal, sys, time
from dtnn.cluster import Cluster, RankDied

def who(comm):
    return [comm.rank, os.environ.get("SLURMD_NODENAME") or os.environ.get("SLURM_JOB_ID"), os.getpid()]

with Cluster(3, "slurm", partition="main", time=5, lines=["#SBATCH --comment={x}"], on_wait=False) as cluster:
    folder = cluster._crew.folder
    with open(folder + "/security/ipcontroller-dtnn-client.json") as file:
        print(json.dumps({"folder": folder, "curve": bool(json.load(file).get("curve_serverkey"))}), flush=True)
    run = cluster.run(who)
    run.result(30)
    print(json.dumps(run.results), flush=True)
    print(cluster.run(lambda comm: comm.Allreduce(comm.rank + 1)).result(30), flush=True)
    run = cluster.run(lambda comm: [comm.Barrier() or time.sleep(0.01) for _ in range(10_000)])
    time.sleep(0.5)
    killed = time.monotonic()
    os.kill(cluster.describe()[1]["pid"], signal.SIGKILL)
    try:
        run.result(30)
    except RankDied as error:
        print(json.dumps([str(error)[:60], time.monotonic() - killed]), flush=True)
    print(cluster.restart().run(lambda comm: comm.Allreduce(1)).result(30), flush=True)
"""

QUEUE = """
import sys
from dtnn.cluster import Cluster

Cluster(2, "slurm", timeout=5, on_wait=lambda text: print(text, flush=True)).start()
"""

ENDLESS = """
import time
from dtnn.cluster import Cluster

cluster = Cluster(2, "slurm", on_wait=False).start()
cluster.run(lambda comm: [comm.Barrier() or time.sleep(0.01) for _ in range(100_000)])
print(cluster._crew.folder, flush=True)
time.sleep(1000)
"""


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slurm")
    with slurm_here.slurm(folder) as started:
        started.environment |= {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "home")}
        yield started


@pytest.fixture
def script(there, tmp_path):
    """Start a Python script in the network of the Slurm; ended with the test."""
    processes = []

    def start(text, *arguments):
        (tmp_path / "script.py").write_text(text)
        command = there.command(sys.executable, tmp_path / "script.py", *arguments)
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=there.environment, cwd=tmp_path))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


def no_jobs(there, seconds):
    until = time.monotonic() + seconds
    while there.jobs() and time.monotonic() < until:
        time.sleep(0.2)
    return not there.jobs()


@needs_mpi
@needs_slurm
@pytest.mark.slow
@pytest.mark.limit(120)
def test_engines_of_slurm_work_and_a_dead_one_is_told(there, script):
    process = script(WORK)
    out = process.communicate(timeout=100)[0]
    lines = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == 0, out
    about, ranks, six, (died, seconds), three = lines
    assert about["curve"]
    assert [rank for rank, _, _ in ranks] == [0, 1, 2]
    assert (six, three) == (6, 3)
    assert died.startswith("rank 1 (process ")
    print(f"told after {seconds:.1f} s")
    assert seconds < 8  # 5 s are promised; a shared machine gets some more
    assert nothing_left(about["folder"], 1)
    assert no_jobs(there, 5)


@needs_mpi
@needs_slurm
@pytest.mark.slow
@pytest.mark.limit(120)
def test_waiting_in_the_queue_is_shown_and_an_interrupt_cancels_it(there, script):
    job = there.ask("sbatch", "--parsable", "--exclusive", "-N", "2", "--output=/dev/null", "--wrap", "sleep 300")
    try:
        process = script(QUEUE)
        until = time.monotonic() + 40
        for line in process.stdout:
            assert time.monotonic() < until
            if "batch queue" in line and "Resources" in line:
                break
        assert "is pending, Resources); an interrupt cancels it" in line
        assert len(there.jobs()) == 2
        time.sleep(6)  # longer than the start may take: waiting in a queue is nobody's fault
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(20) != 0
        assert there.jobs() == ["wrap RUNNING"]
    finally:
        there.ask("scancel", job)
    assert no_jobs(there, 10)


@needs_mpi
@needs_slurm
@pytest.mark.slow
@pytest.mark.limit(120)
def test_a_killed_client_leaves_no_job(there, script):
    process = script(ENDLESS)
    path = process.stdout.readline().strip()
    assert there.jobs()[0].startswith("dtnn-c")
    process.kill()
    assert nothing_left(path, 30)
    assert no_jobs(there, 10)


@needs_mpi
@needs_slurm
@pytest.mark.slow
@pytest.mark.limit(120)
def test_a_job_outlives_its_client_and_is_attached_to(there, script):
    first = script(FIRST.replace("Cluster(2, ", 'Cluster(2, "slurm", '), "1000000", "600")
    path = folder_of(first)
    first.kill()
    time.sleep(3.0)
    assert there.jobs()[0].startswith("dtnn-c")
    second = script(SECOND, path, "stop")
    out = second.communicate(timeout=60)[0].splitlines()
    assert out[-2].split()[:2] == ["stopped", "stopped"]
    assert out[-2].split()[-1] == "True"
    assert out[-1] == "3"
    assert nothing_left(path, 2)
    assert no_jobs(there, 10)


@needs_mpi
@needs_slurm
@pytest.mark.slow
@pytest.mark.limit(120)
def test_a_batch_job_trains_what_the_notebook_trained(there, tmp_path):
    with Cluster(2, "threads") as cluster:
        settings = {"batch_size": 500, "optimizer": dtnn.optim.SGD(0.1), "validation_data": False}
        run = dtnn.zoo.mlp().start(dtnn.data.mnist5k(), cluster=cluster, **settings)
        run.result(60)
    job = run.to_batch("slurm", tmp_path / "job", ranks=3, partition="main", time=5)
    there.ask("sbatch", "--wait", "--parsable", job)
    again = Run.load(tmp_path / "job" / "run.json")
    assert (again.size, again.state) == (3, "done")
    assert abs(again.history.history["loss"][0] - run.history.history["loss"][0]) < 1e-4


# ---- without a Slurm


def test_where_there_is_no_slurm_that_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(RuntimeError, match=r'launcher="slurm" needs sbatch, squeue, scancel on the PATH.*launcher="mpi"'):
        Cluster(2, "slurm", on_wait=False).start()
    assert not list(tmp_path.rglob("c*-*"))


def test_where_slurm_takes_no_job_that_is_told(monkeypatch, tmp_path, capfd):
    for name in ("sbatch", "squeue", "scancel"):
        (tmp_path / name).write_text("#!/bin/sh\necho no such partition >&2\nexit 3\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(RuntimeError, match=r"Slurm took no job: sbatch ended with exit code 3.*launcher=\"mpi\""):
        Cluster(2, "slurm", on_wait=False).start()
    assert "no such partition" in capfd.readouterr().err
    assert not list(tmp_path.rglob("c*-*"))


def test_the_script_of_the_engines_has_what_was_asked_for(tmp_path):
    what = asked.asked(4, "slurm", 2, batch={"account": "class7", "time": 30, "lines": "module load {x}"})
    told = slurm.settings(what, str(tmp_path), "mpiexec")
    script = told["batch_template"].format(n=4, program_and_args="engine")
    assert "#SBATCH --account=class7\n" in script
    assert "#SBATCH --ntasks=4\n" in script
    assert "#SBATCH --cpus-per-task=2\n" in script
    assert "\nmodule load {x}\nexec " in script
    assert script.endswith(" -n 4 engine\n")
    assert Path(tmp_path, watchdog.SLURM).exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"launcher": "mpi", "account": "class7"}, 'account, partition, time, nodes and lines go with launcher="slurm"'),
        ({"launcher": "slurm", "hosts": ["a"]}, r'hosts=\["?\'?a.* go with launcher="ssh"'),
        ({"launcher": "slurm", "account": "a b"}, "account='a b' can't stand in a batch script"),
    ],
)
def test_what_does_not_go_together_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        Cluster(2, **settings)


def test_an_argument_that_is_none_is_told():
    with pytest.raises(TypeError, match="Cluster has no setting 'queue'; a batch system is told account, partition"):
        Cluster(2, "slurm", queue="main")
