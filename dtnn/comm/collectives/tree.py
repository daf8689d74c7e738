"""All-reduce on a binomial tree: sums go up to rank 0, the result comes down."""

import numpy as np

from ..checked import known_rank
from .flat_sum import on_flat, sum_on_flat


@sum_on_flat
def tree(comm, array):
    """Sum `array` over all ranks, in place: reduce to rank 0, then broadcast, both along a binomial tree.

    In the k-th round ranks that are 2^k apart meet: half of those still there hand over what they have and are done. The
    broadcast goes the same ways backwards.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.

    Notes
    -----
    Cost: 2 ceil(log2 P) (alpha + n beta) + ceil(log2 P) n gamma; few messages, all of them long: good for short vectors.
    Source: the minimum spanning tree algorithms in Chan et al. (2007).

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([1.0, 10.0])
    ...     tree(comm, array)
    ...     return array.tolist()
    >>> run_threads(job, 3)
    [[3.0, 30.0], [3.0, 30.0], [3.0, 30.0]]
    """
    tree_reduce(comm, array)
    tree_broadcast(comm, array)


@sum_on_flat
def tree_reduce(comm, array, root=0):
    """Leave the sum over all ranks in root's `array`, up a binomial tree.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`; on ranks other than root it holds partial sums afterwards.
    root : int

    Notes
    -----
    Cost: ceil(log2 P) (alpha + n beta + n gamma).

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([1.0, 10.0])
    ...     tree_reduce(comm, array, root=2)
    ...     return array.tolist()
    >>> run_threads(job, 3)[2]
    [3.0, 30.0]
    """
    place = (comm.rank - known_rank(root, comm.size, "root")) % comm.size
    received = np.empty_like(array)
    distance = 1
    while distance < comm.size:
        if place & distance:
            comm.Send(array, (comm.rank - distance) % comm.size)
            return
        if place + distance < comm.size:
            comm.Recv(received, (comm.rank + distance) % comm.size)
            array += received
        distance *= 2


@on_flat
def tree_broadcast(comm, array, root=0):
    """Copy root's `array` to all ranks, in place, down a binomial tree.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.
    root : int

    Notes
    -----
    Cost: ceil(log2 P) (alpha + n beta); for long arrays see `scatter_broadcast` and `chain_broadcast`.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([comm.rank, 10 * comm.rank])
    ...     tree_broadcast(comm, array, root=2)
    ...     return array.tolist()
    >>> run_threads(job, 3)
    [[2, 20], [2, 20], [2, 20]]
    """
    place = (comm.rank - known_rank(root, comm.size, "root")) % comm.size
    distance = 1
    while distance < comm.size and not place & distance:
        distance *= 2
    if place:
        comm.Recv(array, (comm.rank - distance) % comm.size)
    while distance > 1:
        distance //= 2
        if place + distance < comm.size:
            comm.Send(array, (comm.rank + distance) % comm.size)
