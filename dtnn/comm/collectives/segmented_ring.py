"""The ring with short messages, which stay in the cache between receiving and adding."""

from .flat_sum import segments, shares, sum_on_flat
from .ring import ring_all_gather, ring_reduce_scatter


@sum_on_flat
def segmented_ring(comm, array, segment_bytes=1 << 18):
    """Sum `array` over all ranks, in place: as `ring`, with each share reduced in segments.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.
    segment_bytes : int
        A share is reduced in segments of at most so many bytes (at least one number).

    Notes
    -----
    Cost with S segments a share: (S+1)(P-1) alpha + 2(P-1)/P n beta + (P-1)/P n gamma. The segments go one after the other, so
    all that can be gained is the cache (between processes of one machine, less than the messages cost: measured); Open MPI's
    also adds one segment while the next is on its way.
    Source: the segmented ring of Open MPI (``coll_base_allreduce.c``).

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.arange(4.0)
    ...     segmented_ring(comm, array, segment_bytes=8)
    ...     return array.tolist()
    >>> run_threads(job, 2)
    [[0.0, 2.0, 4.0, 6.0], [0.0, 2.0, 4.0, 6.0]]
    """
    longest = -(-array.size // comm.size)
    count = segments(longest, array.itemsize, segment_bytes)
    of_rank = [shares(share, count) for share in shares(array, comm.size)]
    for segment in range(count):
        ring_reduce_scatter(comm, array, [parts[segment] for parts in of_rank])
    ring_all_gather(comm, array)
