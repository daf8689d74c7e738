"""The memory that the ranks of a host share, found out the first time something long is added up: methods of `MPI`."""

import numpy as np

from .shared_sum import KINDS, LEAST, SharedSum

NOTHING = np.empty(0)  # an array that nobody else has


def shared(comm, size):
    """Memory in which sums are made without copies, or None; collective. See `SharedSum.room`."""
    return _found(comm, f"{size} bytes to add up in").room(size) if comm.size > 1 else None


def let_go(comm):
    """Give up the memory that ranks share, on this rank alone: nothing is to be added up here any more."""
    comm._shared = comm._comparison.rendezvous = None
    comm._usual = NOTHING


def adds_up(comm, elements, asked, value):
    """Whether an array, a long one, is added up there."""
    if comm.size == 1 or elements.nbytes < LEAST or elements.dtype not in KINDS:
        return False
    return (comm._shared or _found(comm, asked, value)).works


def _found(comm, asked, array=None):
    """That of the ranks of this host; the first time ranks find out together whether they share any.

    They don't where they share cores: there who waits for the others, twice, waits long.  What they ask for is compared
    before that, for a rank that asks for something else takes no part in it.
    """
    if comm._shared is None:
        comm._comparison.compare(asked, array)
        comm._shared = SharedSum(comm, wanted=not comm._crowded)
        comm._comparison.rendezvous = comm._shared.rendezvous
    return comm._shared
