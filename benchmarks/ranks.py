"""Benchmarks of several processes: started again under mpiexec, one core a rank, all beginning together, timed in turn."""

import os
import sys
import time
from pathlib import Path

import numpy as np
from timer import kept, waited

ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def mpiexec():
    """That of the running environment."""
    found = Path(sys.executable).parent / "mpiexec"
    if not found.exists():
        sys.exit(f"there is no {found}: install MPI into this environment, pip install mpich")
    return str(found)


def is_rank():
    """Whether this process was started by an mpiexec."""
    return any(name in os.environ for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"))


def begin_again(size):
    """Unless this process is a rank already, become `size` of them: this script with its options under mpiexec."""
    if not is_rank():
        command = [mpiexec(), "-n", str(size), sys.executable, *sys.argv]
        os.execve(command[0], command, os.environ | ENVIRONMENT)


def pin(rank, size):
    """One core for this rank, if there are enough; whether there are."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) < size:
        return False
    os.sched_setaffinity(0, {cores[rank]})
    return True


def in_turn(world, functions, rounds, seconds=0.1):
    """Time functions that all ranks call at once, A B A B ...; what counts is when the last rank has ended.

    Parameters
    ----------
    world : mpi4py.MPI.Comm
    functions : dict of name -> function without arguments
    rounds : int
        Samples of each.
    seconds : float
        Length of a sample, at least one call.

    Returns
    -------
    dict of name -> Timing
        The same on all ranks.
    """
    calls, samples = {}, {name: [] for name in functions}
    for name, function in functions.items():
        for _ in range(3):
            function()
        calls[name] = max(1, round(seconds / max(together(world, function, 1)[0], 1e-7)))
    for _ in range(rounds):
        for name, function in functions.items():
            samples[name].append(together(world, function, calls[name]))
    return {name: kept(found) for name, found in samples.items()}


def together(world, function, calls):
    """(seconds a call, share of the time that a rank had to wait for a processor), the larger ones of all ranks."""
    world.Barrier()
    before, start = waited(), time.perf_counter()
    for _ in range(calls):
        function()
    seconds = time.perf_counter() - start
    found = np.array([seconds / calls, (waited() - before) / seconds])
    from mpi4py import MPI

    world.Allreduce(MPI.IN_PLACE, found, MPI.MAX)
    return tuple(found.tolist())
