"""All-reduce by recursive doubling: in each round all exchange all they have with a partner twice as far away."""

import numpy as np

from .flat_sum import sum_on_flat
from .fold import Fold


@sum_on_flat
def recursive_doubling(comm, array):
    """Sum `array` over all ranks, in place: after round k each rank holds the sum of 2^k ranks.

    Both partners of an exchange add the same two vectors, and a + b has the same bits as b + a: so have all ranks at the end.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.

    Notes
    -----
    Cost: log2 P (alpha + n beta + n gamma), the fewest rounds possible; with floor(log2 P) and the cost of a `Fold` where P
    is no power of two.
    Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", International
    Journal of High Performance Computing Applications 19 (2005).

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([1.0, 10.0])
    ...     recursive_doubling(comm, array)
    ...     return array.tolist()
    >>> run_threads(job, 3)
    [[3.0, 30.0], [3.0, 30.0], [3.0, 30.0]]
    """
    fold = Fold(comm)
    fold.begin(array)
    if fold.place is not None:
        _exchange_all(comm, fold, array)
    fold.end(array)


def _exchange_all(comm, fold, array):
    received = np.empty_like(array)
    distance = 1
    while distance < fold.size:
        partner = fold.rank(fold.place ^ distance)
        comm.Sendrecv(array, partner, received, partner)
        array += received
        distance *= 2
