"""Communicators are there before MPI is: importing mpi4py would start it in the notebook's own process."""

import subprocess
import sys

LIGHT = """
import sys
import dtnn.comm, dtnn.comm.collectives, dtnn.parallel
dtnn.comm.run_threads(lambda comm: comm.Allreduce(1), 2)
heavy = {"mpi4py", "numba", "ipyparallel", "matplotlib"} & {name.split(".")[0] for name in sys.modules}
sys.exit(f"loaded: {heavy}" if heavy else 0)
"""


def test_ranks_as_threads_need_no_mpi():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
