"""The numbers beside the picture of an all-reduce: the formula's, the counted ones, the clock's, the bits."""

import functools
import inspect
import time

import numpy as np

from ..comm import collectives, cost, run_threads
from ..comm.emulated import Emulated

ITEM = 8  # bytes of a number
SEGMENT = inspect.signature(collectives.segmented_ring).parameters["segment_bytes"].default
UNEVEN = (1e8, 1.0, -1e8, 1.0)  # one number a rank: in float32 their sum depends on the order


def formula(name, ranks, size, ranks_per_node=2):
    """The `Cost` of an algorithm for a vector of `size` bytes; None where there is no formula.

    >>> formula("ring", 4, 800).messages, formula("native", 4, 800)
    (24, None)
    """
    if name == "segmented_ring":
        return cost.segmented_ring(ranks, size, max(1, -(-size // ranks // SEGMENT)))
    if name == "hierarchical":
        return cost.hierarchical(ranks, size, ranks_per_node)
    return getattr(cost, name)(ranks, size) if name in collectives.ALGORITHMS and hasattr(cost, name) else None


def function(name, own=None, ranks_per_node=2):
    """The algorithm of that name; one of them needs to know how many ranks a node has.

    Parameters
    ----------
    name : str
    own : dict, optional
        The user's, which come first.
    """
    if name in (own or {}):
        return own[name]
    if name == "hierarchical":
        return functools.partial(collectives.hierarchical, ranks_per_node=ranks_per_node)
    return getattr(collectives, name)


def clocked(algorithm, ranks, length, latency, bandwidth):
    """Seconds that an all-reduce takes between threads whose links are slowed down: the slowest rank's.

    Parameters
    ----------
    latency : float
        Seconds a message.
    bandwidth : float
        Bytes a second.
    """

    def job(comm):
        slow, array = Emulated(comm, latency, bandwidth), np.ones(length)
        comm.Barrier()
        begin = time.perf_counter()
        algorithm(slow, array)
        return time.perf_counter() - begin

    return max(run_threads(job, ranks))


def summed(algorithm, numbers=UNEVEN):
    """What an all-reduce of float32 makes of one number a rank: (the sum, its bits, whether all ranks have the same).

    >>> from dtnn.comm.collectives import rabenseifner
    >>> summed(rabenseifner)
    (2.0, '40000000', True)
    """

    def job(comm):
        array = np.array([numbers[comm.rank]], np.float32)
        algorithm(comm, array)
        return array

    ended = run_threads(job, len(numbers))
    bits = [f"{int(array.view(np.uint32)[0]):08x}" for array in ended]
    return float(ended[0][0]), bits[0], len(set(bits)) == 1
