"""The first few ranks of a communicator."""

import os
import subprocess
import sys

import numpy as np
import pytest

from dtnn.comm import run_threads
from dtnn.scaling.part import part

ON_MPI = """
import numpy as np
from mpi4py import MPI as library
from dtnn.comm.mpi import MPI
from dtnn.scaling.part import part

comm = MPI(library.COMM_WORLD, library.COMM_WORLD.Dup())
for count in (1, 2, 3, 2):
    with part(comm, count) as few:
        assert (few is None) == (comm.rank >= count)
        if few is not None:
            assert (few.rank, few.size) == (comm.rank, count)
            value = np.array([comm.rank + 1.0])
            few.Allreduce(value)
            assert value[0] == count * (count + 1) / 2
comm.Barrier()
print("fine", comm.rank)
"""


def _sum_over(comm, count):
    with part(comm, count) as few:
        if few is None:
            return None
        value = np.array([comm.rank + 1.0])
        few.Allreduce(value)
        return value[0]


def test_all_or_one_of_threads():
    assert run_threads(_sum_over, 3, 3) == [6.0, 6.0, 6.0]
    assert run_threads(_sum_over, 3, 1) == [1.0, None, None]


def test_some_of_threads_are_refused():
    with pytest.raises(TypeError, match=r"Threads has 3 ranks.*2.*make a cluster of 2"):
        run_threads(_sum_over, 3, 2)


@pytest.mark.limit(60)
def test_some_of_mpi():
    mpiexec = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    if not os.path.exists(mpiexec):
        pytest.skip("no mpiexec in this environment")
    ran = subprocess.run([mpiexec, "-n", "3", sys.executable, "-c", ON_MPI], capture_output=True, text=True, timeout=50)
    assert ran.returncode == 0, ran.stderr
    assert sorted(ran.stdout.split("\n")[:-1]) == ["fine 0", "fine 1", "fine 2"]
