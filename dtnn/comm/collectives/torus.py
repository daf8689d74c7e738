"""All-reduce on a two-dimensional torus: short rings instead of a long one."""

from ...allowed import whole
from ..part import Part
from .flat_sum import shares, sum_on_flat
from .ring import ring, ring_all_gather, ring_reduce_scatter


@sum_on_flat
def torus(comm, array, rows=None):
    """Sum `array` over all ranks, in place: the ranks as a grid, a reduce-scatter on the ring of each row, an all-reduce of
    what that left on the ring of each column, an all-gather on the ring of each row.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.
    rows : int, optional
        R, which has to divide the ranks; left out, P ranks make the most square grid of R rows and C columns that there is, and a
        prime number of them one row, a plain ring.

    Raises
    ------
    ValueError, TypeError
        `rows` doesn't divide the ranks.

    Notes
    -----
    Cost: 2(R-1 + C-1) alpha + 2(P-1)/P n beta + (P-1)/P n gamma: the bytes of the ring, and 4(sqrt(P)-1) messages, not 2(P-1).
    Source: Mikami et al., "Massively distributed SGD: ImageNet/ResNet-50 training in a flash" (2018).

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([1.0, 2.0, 3.0])
    ...     torus(comm, array)
    ...     return array.tolist()
    >>> run_threads(job, 6)[5]
    [6.0, 12.0, 18.0]
    """
    rows, columns = grid(comm.size) if rows is None else grid_of(comm.size, rows)
    row, column = divmod(comm.rank, columns)
    in_row = Part(comm, [row * columns + k for k in range(columns)])
    in_column = Part(comm, [k * columns + column for k in range(rows)])
    ring_reduce_scatter(in_row, array)
    ring(in_column, shares(array, columns)[column])
    ring_all_gather(in_row, array)


def grid(size):
    """Rows and columns of the most square grid of `size` places, at least as many columns as rows.

    >>> grid(12), grid(7)
    ((3, 4), (1, 7))
    """
    rows = max(k for k in range(1, int(size**0.5) + 1) if size % k == 0)
    return rows, size // rows


def grid_of(size, rows):
    """Rows and columns of the grid of `size` places that has so many rows.

    >>> grid_of(12, 2)
    (2, 6)
    >>> grid_of(12, 5)
    Traceback (most recent call last):
    ValueError: rows=5 don't divide the 12 ranks; give one of 1, 2, 3, 4, 6, 12
    """
    if size % whole("rows", rows, 1):
        divisors = ", ".join(str(k) for k in range(1, size + 1) if size % k == 0)
        raise ValueError(f"rows={rows} don't divide the {size} ranks; give one of {divisors}")
    return rows, size // rows
