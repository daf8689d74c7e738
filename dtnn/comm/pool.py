"""MPI communicators for one run after the other in the same processes, such as a notebook's engines."""

from .mpi import MPI
from .polling import is_crowded


class Pool:
    """Communicators duplicated from one world, each used by one run at a time.

    MPICH has some 2,000 communicators in all, so a pair (work and notices) that ended cleanly is used again.  After a
    failure or an interrupt it can't be: what was under way on it would meet what the next run sends.

    Parameters
    ----------
    world : mpi4py.MPI.Comm, optional
        ``COMM_WORLD`` if left out.
    """

    def __init__(self, world=None):
        from mpi4py import MPI as library

        self.world = library.COMM_WORLD if world is None else world
        self.crowded = is_crowded(self.world)
        self.library, self.pair, self.last, self.spoilt = library, None, None, []

    def checkout(self, fresh=False, blocking=False):
        """The communicator for a run; collective, and to be called only when all ranks are sure to come.

        Parameters
        ----------
        fresh : bool
            Whether the last run ended uncleanly on any rank, as far as the caller knows.  One rank that says so, or whose
            communicator says so, is enough.
        blocking : bool
            See `MPI`.
        """
        if self.last is not None:
            self.last.let_go()
        if self._is_spoilt(fresh):
            self.spoilt.append((self.pair, self.last))  # never freed: what was abandoned on it may still be under way
            self.pair = None
        if self.pair is None:
            self.pair = self.world.Dup(), self.world.Dup()
        self.last = MPI(*self.pair, blocking=blocking, crowded=self.crowded)
        return self.last

    def _is_spoilt(self, fresh):
        """Whether any rank knows of a reason not to use the pair again: all ranks give the same answer."""
        if self.pair is None:
            return False
        self.world.Barrier()  # so that whatever the last run sent and never received is here
        self.last.forget()
        unclean = fresh or not self.last.clean or any(comm.Iprobe() for comm in self.pair)
        return self.world.allreduce(unclean, self.library.LOR)
