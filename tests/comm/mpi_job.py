"""Run a function of a test file on MPI ranks, in processes of their own, with a time limit."""

import functools
import os
import pickle
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What Open MPI needs in order to run as root and with more ranks than cores; others don't look at it.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PYTHONPATH": str(ROOT),
}


def run_mpi(file, name, ranks, *args, seconds=100.0, check=True):
    """Call `name(pool, *args)` of the Python file `file` on `ranks` processes; skips the test where there is no MPI.

    Returns
    -------
    list
        What each rank returned, None of a rank that did not come to its end.  With `check=False`: the finished process
        (`returncode`, `stdout`).
    """
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.pickle"
        job.write_bytes(pickle.dumps((str(file), name, args)))
        done = _run([_mpiexec(), "-n", str(ranks), sys.executable, __file__, folder], seconds)
        if not check:
            return done
        assert done.returncode == 0, f"{name} on {ranks} ranks: exit code {done.returncode}\n{done.stdout}"
        return [pickle.loads((Path(folder) / f"{rank}.pickle").read_bytes()) for rank in range(ranks)]


def _run(command, seconds):
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | ENVIRONMENT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)  # its own session: mpiexec and all ranks
        output, _ = process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            pytest.fail(f"{' '.join(command[1:4])}: still running after {seconds} s\n{output}")
        raise
    return subprocess.CompletedProcess(command, process.returncode, output)


@functools.cache
def why_no_mpi():
    """Why MPI tests can't run here, or ""."""
    if not _launcher():
        return "no mpiexec: install the extra dtnn[mpi]"
    found = subprocess.run([sys.executable, "-c", "from mpi4py import MPI"], capture_output=True, text=True)
    return "" if found.returncode == 0 else f"mpi4py finds no MPI library: {found.stderr.strip().splitlines()[-1]}"


def _mpiexec():
    if why_no_mpi():
        pytest.skip(why_no_mpi())
    return _launcher()


def _launcher():
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def _main(folder):
    from dtnn.comm.pool import Pool

    file, name, args = pickle.loads((Path(folder) / "job.pickle").read_bytes())
    pool = Pool()
    result = runpy.run_path(file, run_name="job")[name](pool, *args)
    (Path(folder) / f"{pool.world.rank}.pickle").write_bytes(pickle.dumps(result))


if __name__ == "__main__":
    _main(sys.argv[1])
