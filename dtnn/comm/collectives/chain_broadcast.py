"""A broadcast along a chain of ranks, in segments that follow each other."""

import itertools

from ..checked import known_rank
from .flat_sum import on_flat, segments, shares


@on_flat
def chain_broadcast(comm, array, root=0, segment_bytes=1 << 16):
    """Copy root's `array` to all ranks, in place: each rank hands on one segment while it receives the next.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.
    root : int
    segment_bytes : int
        A segment has at most so many bytes (at least one number).

    Notes
    -----
    Cost with k segments: (P-2+k)(alpha + n/k beta): hardly more than one message of n bytes where k is large and P small.  The
    best k is sqrt((P-2) n beta / alpha).

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.arange(4.0) + comm.rank
    ...     chain_broadcast(comm, array, root=2, segment_bytes=8)
    ...     return array.tolist()
    >>> run_threads(job, 3)
    [[2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0]]
    """
    place = (comm.rank - known_rank(root, comm.size, "root")) % comm.size
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    parts = shares(array, segments(array.size, array.itemsize, segment_bytes))
    first, last = place == 0, place == comm.size - 1
    if not first:
        comm.Recv(parts[0], left)
    for part, following in itertools.pairwise(parts):
        if first and not last:
            comm.Send(part, right)
        elif last and not first:
            comm.Recv(following, left)
        elif not first:
            comm.Sendrecv(part, right, following, left)
    if not last:
        comm.Send(parts[-1], right)
