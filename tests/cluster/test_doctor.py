"""The doctor finds what is wrong, and says what to do, without starting MPI here."""

import subprocess
import sys

import pytest

from dtnn.cluster import diagnose, doctor, finding, launchers, look_at_mpi

from .conftest import ROOT, needs_mpi


def by_topic(findings):
    return {finding.topic: finding for finding in findings}


@needs_mpi
def test_this_environment_is_well():
    findings = diagnose()
    assert not [str(finding) for finding in findings if not finding.ok]
    found = by_topic(findings)
    assert {"Python", "numpy", "numba", "MPI library", "MPI launcher", "cores", "thread pools", "Jupyter", "kernel cache"} <= set(
        found
    )
    assert found["MPI together"].text == "2 processes make one world"


def test_without_an_mpi_library_the_wheel_is_named(monkeypatch):  # case 17
    monkeypatch.setenv("MPI4PY_LIBMPI", "/nowhere/libmpi.so")
    found = by_topic(look_at_mpi.look_at_mpi())
    assert found["MPI library"].state == "error"
    assert "pip install mpich" in found["MPI library"].remedy
    assert "MPI together" not in found


def test_without_a_launcher_the_wheel_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"no mpiexec beside .*pip install mpich"):
        launchers.mpiexec()
    finding = look_at_mpi._launcher()[0]
    assert (finding.state, finding.topic) == ("error", "MPI launcher")
    assert "pip install mpich" in str(finding)


def test_vendors_that_differ_are_told_before_anything_starts(monkeypatch):  # case 18, E9
    (finding,) = look_at_mpi._together("MPICH", "Open MPI", "/usr/bin/mpiexec")
    assert finding.state == "error"
    assert "the library is MPICH, the launcher Open MPI" in finding.text
    assert "pip install mpich" in finding.remedy


def test_a_launcher_that_starts_worlds_of_one_is_found_out(monkeypatch, tmp_path):  # case 8
    path = tmp_path / "mpiexec"
    path.write_text("#!/bin/sh\necho size 1\necho size 1\n")
    path.chmod(0o755)
    (finding,) = look_at_mpi._together("MPICH", "MPICH", str(path))
    assert finding.state == "error"
    assert "2 processes should make one world: size 1" in finding.text


def test_a_broken_package_is_told():
    finding = doctor._package("no_such_package_at_all", needed=True)
    assert (finding.state, finding.ok) == ("error", False)
    assert "pip install --upgrade no_such_package_at_all" in finding.remedy


def test_a_question_that_is_never_answered_ends(monkeypatch):
    monkeypatch.setattr(finding, "SECONDS", 0.2)
    code, _, err = finding.ask([sys.executable, "-c", "import time; time.sleep(100)"])
    assert code == -1
    assert "timed out" in err


def test_the_users_thread_settings_are_shown(monkeypatch):  # case 82
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    (finding,) = doctor._thread_pools()
    assert "OMP_NUM_THREADS=3" in finding.text


def test_where_mpi4py_cannot_be_imported_threads_and_the_doctor_work():  # case 17
    code = (
        "import sys\n"
        "sys.modules['mpi4py'] = None\n"
        "import dtnn\n"
        "with dtnn.Cluster(2, launcher='threads') as cluster:\n"
        "    assert cluster.run(lambda comm: comm.Allreduce(1)).result(20) == 2\n"
        "assert dtnn.cluster.diagnose()\n"
        "assert 'mpi4py.MPI' not in sys.modules\n"
        "print('well')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT, check=False)
    assert done.stdout == "well\n", done.stderr


@pytest.mark.parametrize(
    ("script", "state", "words"),
    [("echo main; echo gpu; echo main", "ok", "gpu, main"), ("echo no route >&2; exit 1", "warn", "no route")],
)
def test_a_slurm_is_found_and_asked(script, state, words, tmp_path, monkeypatch):
    for name, text in (("sbatch", "exit 0"), ("sinfo", script)):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (found,) = doctor._slurm()
    assert found.state == state
    assert words in found.text
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert list(doctor._slurm()) == []
