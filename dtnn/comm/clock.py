"""How far a rank's clock is from rank 0's: nothing on one host; elsewhere found out by asking for the time."""

import math
import os
import platform
import time
import zlib

import numpy as np

from ..records import Clock

ROUNDS = 16  # questions; the quickest answers say the most


def align(comm, clock=time.perf_counter, before=None, one=None):
    """What this rank has to add to its clock to get what rank 0's shows, and how well that is known; collective.

    A rank that asks for the time at t0 and has the answer T at t1, all on its own clock but T, knows that rank 0's clock showed T
    in between. So the offset lies between T - t1 and T - t0, and in the intersection of these intervals over all questions, of
    which the shortest round trip counts most. The middle is taken, half the width is the uncertainty. Nothing is assumed of the
    way there and back, which may differ in length.

    Parameters
    ----------
    comm : Communicator
    clock : callable
        Seconds. ``time.perf_counter`` is one clock for all processes of a host, and nothing is asked there; any other is
        compared.
    before : Clock, optional
        What was found last time: what the clock has drifted since is likely to come again, and is added to the uncertainty.
    one : bool, optional
        What `one_clock` says, if it was asked already.

    Returns
    -------
    Clock

    Notes
    -----
    Cost: none on one host; else 16 (P-1) times there and back with 8 bytes, one rank after the other. Cristian (1989),
    "Probabilistic clock synchronization"; intersecting: Marzullo (1984).

    Examples
    --------
    Rank 1's clock is 3 s ahead:

    >>> from dtnn.comm import run_threads
    >>> def ahead():
    ...     return time.perf_counter() + 3
    >>> found = run_threads(lambda comm: align(comm, ahead if comm.rank else time.perf_counter), 2)
    >>> abs(found[1].offset + 3) <= found[1].uncertainty < 0.1
    True
    """
    moment = clock()
    if comm.size == 1 or (one_clock(comm, clock) if one is None else one):
        return Clock(comm.rank, 0.0, 0.0, moment, time.time())
    if comm.rank == 0:
        for rank in range(1, comm.size):
            _answer(comm, clock, rank)
        return Clock(0, 0.0, 0.0, moment, time.time())
    low, high = _ask(comm, clock)
    offset, uncertainty = (low + high) / 2, max(high - low, 0.0) / 2
    if before is not None and math.isfinite(before.uncertainty):
        uncertainty += abs(offset - before.offset)
    return Clock(comm.rank, offset, uncertainty, moment, time.time())


def _answer(comm, clock, rank):
    message = np.zeros(1)
    for _ in range(ROUNDS):
        comm.Recv(message, rank)
        message[0] = clock()
        comm.Send(message, rank)


def _ask(comm, clock):
    """Between which two numbers the offset lies."""
    message, low, high = np.zeros(1), -math.inf, math.inf
    for _ in range(ROUNDS):
        begin = clock()
        comm.Send(message, 0)
        comm.Recv(message, 0)
        end, shown = clock(), float(message[0])
        low, high = max(low, shown - end), min(high, shown - begin)
    return low, high


def one_clock(comm, clock=time.perf_counter):
    """Whether all ranks read one and the same clock: the usual one, on one host; collective."""
    name = f"{_host()} {clock is not time.perf_counter and comm.rank}"
    number = np.array([zlib.crc32(name.encode())], np.float64)
    lowest, highest = number.copy(), number.copy()
    comm.Allreduce(lowest, "min")
    comm.Allreduce(highest, "max")
    return bool(lowest == highest)


def _host():
    """What stands for the machine that runs, and its clock: two hosts may have one name, and one host two."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/time')}"
    except OSError:
        return platform.node()
