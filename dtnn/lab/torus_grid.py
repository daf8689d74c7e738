"""A torus of other rows and columns than the most square ones, and what it costs."""

import dataclasses

from ..comm import collectives, cost


def torus_of(rows):
    """An all-reduce like `dtnn.comm.collectives.torus` on a grid of so many rows, which have to divide the ranks.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([1.0, 2.0, 3.0])
    ...     torus_of(3)(comm, array)
    ...     return array.tolist()
    >>> run_threads(job, 6)[5]
    [6.0, 12.0, 18.0]
    """

    def torus(comm, array):
        collectives.torus(comm, array, rows)

    return torus


def torus_cost(ranks, size, rows):
    """Its `Cost`: the bytes don't depend on the grid, the messages do.

    >>> torus_cost(16, 1e6, 4).starts, torus_cost(16, 1e6, 1).starts
    (12, 30)
    """
    starts = 2 * (rows - 1 + ranks // rows - 1)
    return dataclasses.replace(cost.torus(ranks, size), starts=starts, messages=ranks * starts)


def grids(ranks):
    """The rows that a grid of so many ranks can have.

    >>> grids(12), grids(7)
    ([1, 2, 3, 4, 6, 12], [1, 7])
    """
    return [rows for rows in range(1, ranks + 1) if ranks % rows == 0]
