"""A reduction for long arrays: each rank adds up a share, and the root collects them."""

from ..checked import known_rank
from .flat_sum import by_place, shares, sum_on_flat
from .ring import ring_reduce_scatter
from .scatter_broadcast import tree_gather


@sum_on_flat
def gather_reduce(comm, array, root=0):
    """Leave the sum over all ranks in root's `array`: a reduce-scatter on a ring, then a gather up a binomial tree.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`; on ranks other than root it holds partial sums afterwards.
    root : int

    Notes
    -----
    Cost: (P-1 + ceil(log2 P)) alpha + 2(P-1)/P n beta + (P-1)/P n gamma.
    Source: the long vector reduce in Chan et al. (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([1.0, 2.0, 3.0])
    ...     gather_reduce(comm, array, root=1)
    ...     return array.tolist()
    >>> run_threads(job, 4)[1]
    [4.0, 8.0, 12.0]
    """
    known_rank(root, comm.size, "root")
    ring_reduce_scatter(comm, array, by_place(shares(array, comm.size), root))
    tree_gather(comm, array, root)
