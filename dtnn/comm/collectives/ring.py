"""All-reduce on a ring: every rank only ever talks to its two neighbours."""

import numpy as np

from .flat_sum import on_flat, shares, sum_on_flat


@sum_on_flat
def ring(comm, array):
    """Sum `array` over all ranks, in place: reduce-scatter, then all-gather, both on a ring.

    Each rank owns one of P shares of the vector. First the partial sums of all shares travel round the ring, each growing by
    one rank's part at every stop, until each rank holds the whole sum of its own share. Then these travel round once more.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.

    Notes
    -----
    Cost: 2(P-1) alpha + 2(P-1)/P n beta + (P-1)/P n gamma; the least bytes possible, but a start-up for every rank there is.
    Source: the bucket algorithm in Chan et al. (2007).

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([1.0, 2.0, 3.0]) * (comm.rank + 1)
    ...     ring(comm, array)
    ...     return array.tolist()
    >>> run_threads(job, 2)
    [[3.0, 6.0, 9.0], [3.0, 6.0, 9.0]]
    """
    ring_reduce_scatter(comm, array)
    ring_all_gather(comm, array)


@sum_on_flat
def ring_reduce_scatter(comm, array, mine=None):
    """Leave the sum over all ranks of one share of `array` on each rank: that of share k on rank k, on a ring.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`; beside the own share it holds partial sums afterwards.
    mine : list of ndarray, optional
        The P views of a flat array that are the shares; left out, even ones: ``shares(array, P)``.

    Notes
    -----
    Cost: (P-1) alpha + (P-1)/P n (beta + gamma).

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([1.0, 2.0, 3.0])
    ...     ring_reduce_scatter(comm, array)
    ...     return shares(array, comm.size)[comm.rank].tolist()
    >>> run_threads(job, 3)
    [[3.0], [6.0], [9.0]]
    """
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    mine = shares(array, comm.size) if mine is None else mine
    received = np.empty(max(share.size for share in mine), array.dtype)
    for step in range(1, comm.size):
        outgoing, growing = mine[comm.rank - step], mine[(comm.rank - step - 1) % comm.size]
        part = received[: growing.size]
        comm.Sendrecv(outgoing, right, part, left)
        growing += part


@on_flat
def ring_all_gather(comm, array, mine=None):
    """Copy one share of each rank's `array` to all ranks: share k of rank k, on a ring.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.
    mine : list of ndarray, optional
        The P views of a flat array that are the shares; left out, even ones: ``shares(array, P)``.

    Notes
    -----
    Cost: (P-1) alpha + (P-1)/P n beta.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.full(3, comm.rank)
    ...     ring_all_gather(comm, array)
    ...     return array.tolist()
    >>> run_threads(job, 3)
    [[0, 1, 2], [0, 1, 2], [0, 1, 2]]
    """
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    mine = shares(array, comm.size) if mine is None else mine
    for step in range(comm.size - 1):
        comm.Sendrecv(mine[comm.rank - step], right, mine[comm.rank - step - 1], left)
