"""How a rank that fails tells the others: on a communicator of its own, which they probe while they wait."""

import time

import numpy as np

from .pending import HELD, NUMBERS

TAG = 7
LONGEST_REASON = 4000  # bytes: short enough for MPI to send off without the receiver's help
SECONDS_TO_TELL = 1.0


class Notices:
    """The notices of one rank.

    Parameters
    ----------
    library : module
        ``mpi4py.MPI``.
    comm : mpi4py.MPI.Comm or None
        Where they travel; None: nowhere.

    Attributes
    ----------
    failure : tuple or None
        Rank and reason of the first failure that was heard of.
    """

    def __init__(self, library, comm):
        self.library, self.comm, self.failure, self.told = library, comm, None, False
        self.status = library.Status()

    def hear(self):
        """The failure of another rank that is known by now, or None."""
        if self.failure is None and self.comm is not None and self.comm.Iprobe(tag=TAG, status=self.status):
            text = np.empty(self.status.Get_count(self.library.BYTE), np.uint8)
            self.comm.Recv(text, self.status.source, TAG)
            self.failure = (self.status.source, text.tobytes().decode("utf-8", "replace"))
        return self.failure

    def tell(self, reason):
        """Send a notice to everybody, once; waits a moment for it to leave, whether the others listen or not.

        Who has heard of a failure tells nobody: that would hide the first cause behind its consequences.
        """
        if self.told or self.hear() or self.comm is None:
            return
        self.told = True
        text = np.frombuffer(reason.encode("utf-8", "replace")[-LONGEST_REASON:], np.uint8)
        HELD[next(NUMBERS)] = text  # for ever: who has failed may never fetch it
        peers = [rank for rank in range(self.comm.size) if rank != self.comm.rank]
        requests = [self.comm.Isend(text, peer, TAG) for peer in peers]
        until = time.perf_counter() + SECONDS_TO_TELL
        while not self.library.Request.Testall(requests) and time.perf_counter() < until:
            time.sleep(0)
