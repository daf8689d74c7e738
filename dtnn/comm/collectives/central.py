"""All-reduce through rank 0: the first thing everybody writes, and what it costs."""

import numpy as np

from .flat_sum import sum_on_flat


@sum_on_flat
def central(comm, array):
    """Sum `array` over all ranks, in place: all send to rank 0, which adds up and sends the sum to each.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.

    Notes
    -----
    Cost: 2(P-1)(alpha + n beta) + (P-1) n gamma: everything passes through one rank, and grows with the number of ranks.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([1, 10])
    ...     central(comm, array)
    ...     return array.tolist()
    >>> run_threads(job, 3)
    [[3, 30], [3, 30], [3, 30]]
    """
    if comm.rank:
        comm.Send(array, 0)
        comm.Recv(array, 0)
        return
    received = np.empty_like(array)
    for source in range(1, comm.size):
        comm.Recv(received, source)
        array += received
    for dest in range(1, comm.size):
        comm.Send(array, dest)
