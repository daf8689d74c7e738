"""A broadcast for long arrays: in parts to all ranks, which then tell each other the rest."""

from ..checked import known_rank
from .flat_sum import by_place, on_flat, shares
from .ring import ring_all_gather


@on_flat
def scatter_broadcast(comm, array, root=0):
    """Copy root's `array` to all ranks, in place: a share to each, down a binomial tree, then an all-gather on a ring.

    `tree_broadcast` sends the whole array ceil(log2 P) times one after the other; here no rank sends more than twice its length.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.
    root : int

    Notes
    -----
    Cost: (ceil(log2 P) + P-1) alpha + 2(P-1)/P n beta.
    Source: the long vector broadcast in Chan et al. (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.arange(4) * comm.rank
    ...     scatter_broadcast(comm, array, root=1)
    ...     return array.tolist()
    >>> run_threads(job, 3)
    [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]
    """
    tree_scatter(comm, array, root)
    ring_all_gather(comm, array, by_place(shares(array, comm.size), root))


@on_flat
def tree_scatter(comm, array, root=0):
    """Copy a share of root's `array` to each rank, in place, down a binomial tree: share k to rank (root + k) mod P.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`; the shares are even, see `shares`. On ranks other than root, what does not
        belong to the own share or pass through this rank stays as it was.
    root : int

    Notes
    -----
    Cost: ceil(log2 P) alpha + (P-1)/P n beta.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([1, 2, 3]) if comm.rank == 0 else np.zeros(3, int)
    ...     tree_scatter(comm, array)
    ...     return array.tolist()
    >>> run_threads(job, 3)
    [[1, 2, 3], [0, 2, 0], [0, 0, 3]]
    """
    place = (comm.rank - known_rank(root, comm.size, "root")) % comm.size
    distance = 1
    while distance < comm.size and not place & distance:
        distance *= 2
    if place:
        comm.Recv(_of_places(comm, array, place, place + distance), (comm.rank - distance) % comm.size)
    while distance > 1:
        distance //= 2
        if place + distance < comm.size:
            theirs = _of_places(comm, array, place + distance, place + 2 * distance)
            comm.Send(theirs, (comm.rank + distance) % comm.size)


@on_flat
def tree_gather(comm, array, root=0):
    """Copy a share of each rank's `array` to root, in place, up a binomial tree: `tree_scatter` backwards, at the same cost.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`; share k is that of rank (root + k) mod P.
    root : int

    Notes
    -----
    Cost: ceil(log2 P) alpha + (P-1)/P n beta.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.full(3, comm.rank)
    ...     tree_gather(comm, array)
    ...     return array.tolist()
    >>> run_threads(job, 3)[0]
    [0, 1, 2]
    """
    place = (comm.rank - known_rank(root, comm.size, "root")) % comm.size
    distance = 1
    while distance < comm.size:
        if place & distance:
            comm.Send(_of_places(comm, array, place, place + distance), (comm.rank - distance) % comm.size)
            return
        if place + distance < comm.size:
            theirs = _of_places(comm, array, place + distance, place + 2 * distance)
            comm.Recv(theirs, (comm.rank + distance) % comm.size)
        distance *= 2


def _of_places(comm, array, first, last):
    """The shares of some neighbouring places, as far as there are any."""
    return array[array.size * first // comm.size : array.size * min(last, comm.size) // comm.size]
