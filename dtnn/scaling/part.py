"""The first few ranks of a communicator, as a communicator of their own."""

import contextlib

from ..comm import Serial


@contextlib.contextmanager
def part(comm, count):
    """Within the `with`, the communicator of ranks 0 to `count` - 1; None on the other ranks.

    Parameters
    ----------
    comm : Communicator
        All its ranks enter, with the same count.
    count : int
        At most ``comm.size``.

    Raises
    ------
    TypeError
        If ranks of this kind can't be parted; a cluster of just so many ranks can always be made.

    Examples
    --------
    >>> with part(Serial(), 1) as few:
    ...     few.size
    1
    """
    if count == comm.size:
        yield comm
    elif count == 1:
        yield Serial() if comm.rank == 0 else None
    elif hasattr(comm, "world"):
        yield from _part_of_mpi(comm, count)
    else:
        raise TypeError(
            f"{type(comm).__name__} has {comm.size} ranks and can't work with {count} of them; make a cluster of {count}"
        )


def _part_of_mpi(comm, count):
    world = comm.world.Split(0 if comm.rank < count else comm.library.UNDEFINED, comm.rank)
    if comm.rank >= count:
        yield None
        return
    notices = world.Dup()
    few = type(comm)(world, notices, blocking=comm.blocking)
    yield few
    if few.clean:  # after a failure the library may still write into them: they stay
        notices.Free()
        world.Free()
