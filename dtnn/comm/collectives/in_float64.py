"""All-reduce that adds up in double precision."""

import numpy as np

from ..flat import reducible
from .native import native


def in_float64(comm, array, algorithm=native):
    """Sum `array` over all ranks, in place: a copy in float64 is summed, and the sum is rounded once.

    So the order in which ranks add up matters no more, as long as the sum of numbers of the array's type is exact in float64
    (29 bits more than float32 has), and small numbers are not lost beside large ones that cancel.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`; what is not float32 or float16 is summed as it is.
    algorithm : callable
        How the copy is summed: any function of a communicator and an array. As the algorithm of a strategy:
        ``AllReduce("in_float64")``, or with another one ``AllReduce(functools.partial(in_float64, algorithm=ring))``.

    Notes
    -----
    Cost: that of the algorithm for twice as many bytes, and a copy there and back.

    What the order does to ``1e8 + 1 - 1e8 + 1`` in float32, a number on each of four ranks: hierarchical, recursive_doubling,
    torus and tree give 0, central, ring and segmented_ring 1, rabenseifner 2; MPI libraries 0, ranks as threads 1; here it is 2.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm, algorithm):
    ...     array = np.array([[1e8], [1], [-1e8], [1]], np.float32)[comm.rank]
    ...     algorithm(comm, array)
    ...     return array.item()
    >>> run_threads(job, 4, native), run_threads(job, 4, in_float64)
    ([1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0])
    """
    reducible(array, "sum")
    if array.dtype not in (np.float32, np.float16):
        algorithm(comm, array)
        return
    wide = array.astype(np.float64, order="C")
    algorithm(comm, wide)
    array[...] = wide
