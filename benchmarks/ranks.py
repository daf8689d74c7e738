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
    "GLOO_SOCKET_IFNAME": "lo",
}
BATCHES = 50  # in an epoch: what comes at its end is no part of a step, and hardly counts


def mpiexec():
    """That of the running environment."""
    found = Path(sys.executable).parent / "mpiexec"
    if not found.exists():
        sys.exit(f"there is no {found}: install MPI into this environment, pip install mpich")
    return str(found)


def is_rank():
    """Whether this process was started by an mpiexec."""
    return any(name in os.environ for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"))


def under_mpiexec(size):
    """The command and the environment that make `size` ranks of this script with its options."""
    return [mpiexec(), "-n", str(size), sys.executable, *sys.argv], os.environ | ENVIRONMENT


def pin(rank, size):
    """One core for this rank, if there are enough; whether there are."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) < size:
        return False
    os.sched_setaffinity(0, {cores[rank]})
    return True


def where(pinned, ranks=2):
    """How the ranks share the machine, in words."""
    return f"{ranks} ranks of one thread, " + ("a core each" if pinned else "FEWER CORES THAN RANKS: these times say little")


def net(name, dropout=True):
    """A net of the zoo; without dropout, which every library draws otherwise, if losses are to be compared."""
    import dtnn
    from dtnn.nn import Dropout

    model = getattr(dtnn.zoo, name)()
    for layer in model.net.layers:
        if isinstance(layer, Dropout) and not dropout:
            layer.rate = 0
    return model


def steps(comm, name, batch, strategy, batches=BATCHES, dropout=True):
    """A function that makes the next step of the public `train` with a net of the zoo, and returns its loss."""
    import dtnn
    from dtnn.data import Samples
    from dtnn.optim import SGD
    from dtnn.records import Step

    model, rng = net(name, dropout), np.random.default_rng(0)
    x, y = rng.random((batch, *model.input_shape), np.float32), rng.integers(0, 10, batch)
    data = Samples(np.concatenate([x] * batches), np.concatenate([y] * batches))
    settings = dict(metrics=(), optimizer=SGD(1e-4, momentum=0.9), epochs=10**9, batch_size=batch, strategy=strategy)
    run = dtnn.training.train(comm, model, data, **settings)
    return lambda: next(record.loss for record in run if isinstance(record, Step))


def in_turn(world, functions, rounds, seconds=0.1, alone=()):
    """Time functions that all ranks call at once, A B A B ...; what counts is when the last rank has ended.

    Parameters
    ----------
    world : mpi4py.MPI.Comm
    functions : dict of name -> function without arguments
    rounds : int
        Samples of each.
    seconds : float
        Length of a sample, at least one call.
    alone : collection of names
        These only rank 0 calls, while the others sleep.

    Returns
    -------
    dict of name -> Timing
        The same on all ranks.
    """
    calls, samples = {}, {name: [] for name in functions}
    for number in range(-1, rounds):
        for name, function in functions.items():
            idle = name in alone and world.rank > 0
            if number < 0:
                sample(world, function, 3, idle)
                calls[name] = max(1, round(seconds / max(sample(world, function, 1, idle)[0], 1e-7)))
            else:
                samples[name].append(sample(world, function, calls[name], idle))
    return {name: kept(found) for name, found in samples.items()}


def sample(world, function, calls, idle=False):
    """(seconds a call, share of the time that a rank had to wait for a processor), the larger ones of all ranks."""
    meet(world)
    before, start = waited(), time.perf_counter()
    for _ in range(0 if idle else calls):
        function()
    seconds = time.perf_counter() - start
    found = np.array([0.0, 0.0] if idle else [seconds / calls, (waited() - before) / seconds])
    meet(world)
    from mpi4py import MPI

    world.Allreduce(MPI.IN_PLACE, found, MPI.MAX)
    return tuple(found.tolist())


def meet(world):
    """A barrier that leaves the core to others while it lasts, and ends within microseconds of the last rank's arrival."""
    request = world.Ibarrier()
    while not request.Test():
        time.sleep(0.0002)
    world.Barrier()
