"""The numbers beside the picture of an all-reduce: the formula's, the counted ones, the clock's, the bits."""

import functools
import inspect
import time

import numpy as np

from ..comm import collectives, cost, run_threads
from .node_links import NodeLinks
from .torus_grid import torus_cost, torus_of

ITEM = 4  # bytes of a number, in float32 as gradients are
SEGMENT = inspect.signature(collectives.segmented_ring).parameters["segment_bytes"].default
UNEVEN = (1e8, 1.0, -1e8, 1.0)  # one number a rank: in float32 their sum depends on the order


def formula(name, ranks, size, ranks_per_node=2, rows=None):
    """The `Cost` of an algorithm for a vector of `size` bytes; None where there is no formula.

    >>> formula("ring", 4, 800).messages, formula("native", 4, 800)
    (24, None)
    """
    if name == "segmented_ring":
        return cost.segmented_ring(ranks, size, max(1, -(-size // ranks // SEGMENT)))
    if name == "hierarchical":
        return cost.hierarchical(ranks, size, ranks_per_node)
    if name == "torus" and rows is not None:
        return torus_cost(ranks, size, rows)
    return getattr(cost, name)(ranks, size) if name in collectives.ALGORITHMS and hasattr(cost, name) else None


def function(name, own=None, ranks_per_node=2, rows=None):
    """The algorithm of that name; one of them needs to know how many ranks a node has, one may be told the rows of its grid.

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
    if name == "torus" and rows is not None:
        return torus_of(rows)
    return getattr(collectives, name)


def clocked(algorithm, ranks, length, links, run=run_threads):
    """Seconds that an all-reduce takes between threads whose links are slowed down: the slowest rank's.

    Parameters
    ----------
    links : Links
    run : callable
        Has a function done by all ranks, as `run_threads` does.
    """

    def job(comm):
        slow, array = NodeLinks(comm, links), np.ones(length, np.float32)
        comm.Barrier()
        begin = time.perf_counter()
        algorithm(slow, array)
        return time.perf_counter() - begin

    return max(run(job, ranks))


def predicted(seen, ranks, links):
    """Seconds that the messages of an all-reduce take by Hockney's model, on links that may be slower from node to node.

    A message begins when both ranks are free, a rank sends one and receives one at a time; adding up costs nothing.

    Parameters
    ----------
    seen : Rounds
    ranks : int
    links : Links

    Returns
    -------
    float or None
        None where no message was seen.
    """
    free = [0.0] * ranks
    for number in range(1, len(seen) + 1):
        ended = list(free)
        for parcel in seen.of(number):
            begin = max(free[parcel.source], free[parcel.dest])
            end = begin + links.seconds(parcel.source, parcel.dest, parcel.count * ITEM)
            for rank in parcel.source, parcel.dest:
                ended[rank] = max(ended[rank], end)
        free = ended
    return max(free) if seen.parcels else None


def summed(algorithm, numbers=UNEVEN, run=run_threads):
    """What an all-reduce of float32 makes of one number a rank: (the sum, its bits, whether all ranks have the same).

    >>> from dtnn.comm.collectives import rabenseifner
    >>> summed(rabenseifner)
    (2.0, '40000000', True)
    """

    def job(comm):
        array = np.array([numbers[comm.rank]], np.float32)
        algorithm(comm, array)
        return array

    ended = run(job, len(numbers))
    bits = [f"{int(array.view(np.uint32)[0]):08x}" for array in ended]
    return float(ended[0][0]), bits[0], len(set(bits)) == 1
