"""`Stirring`: a thread that keeps messages moving while this rank computes and calls nothing of MPI."""

import threading
import time

PERIOD = 0.001  # seconds between two rounds of stirring
MOST = 100  # stirs in a round
QUIET = 16  # stirs in a row that moved nothing, after which a round ends
SILENCE = 10.0  # seconds after which nobody is thought to want it any more


class Stirring:
    """Has a communicator's messages move on, from `start` to `stop`.

    MPI moves messages when it is called, and a rank that computes does not call it. Only a communicator that has a method
    ``stir``, which may be called from any thread, is stirred; nothing happens elsewhere.

    The thread ends with `stop`, when the communicator has failed or was interrupted, and after ten seconds without a `start`,
    so one that was forgotten, because something raised in between, does no harm.

    Parameters
    ----------
    comm : Communicator

    Notes
    -----
    A library may move little in a call: MPICH over TCP takes in 64 KB, so a piece of 2 MB needs 34 calls, and a link of 4 Gbit/s
    brings enough for 8 of them each millisecond. A call that moves something takes 7 microseconds and more, one that moves
    nothing half a microsecond, but the first after a sleep 5; so a round does not end with the first that seems quick.

    VGG-11, two ranks of one core each, 4 Gbit/s of TCP between them, of 80 ms of communication: when backward ends, less than
    1 ms is left; 24 ms where a round ends with the first call that moves nothing, 10 where it ends with the third. But backward
    takes longer, for the messages need the core too, and what the caches held: 20 ms with packets of 256 KB, 38 with 64 KB.
    More rounds win nothing.

    Examples
    --------
    >>> from dtnn.comm import Serial
    >>> stirring = Stirring(Serial())
    >>> stirring.start()
    >>> stirring.stop()
    """

    def __init__(self, comm):
        self.stir, self.wanted = getattr(comm, "stir", None), None

    def start(self):
        """Stir from now on."""
        if self.stir is not None and self.wanted is None:
            self.wanted = Wanted()
            threading.Thread(target=keep_stirring, args=(self.stir, self.wanted), name="dtnn stirring", daemon=True).start()

    def stop(self):
        """Stir no more."""
        if self.wanted is not None:
            self.wanted.until, self.wanted = 0.0, None


class Wanted:
    """Until when a thread is to go on."""

    def __init__(self):
        self.until = time.monotonic() + SILENCE


def keep_stirring(stir, wanted):
    """What the thread does: moves what there is to move, then leaves the core to the computation for a while.

    A stir that takes much longer than the shortest has moved something, and the next may find more.
    """
    least = float("inf")
    while time.monotonic() < wanted.until:
        quiet = 0
        for _ in range(MOST):
            began = time.perf_counter()
            if not stir():
                return
            took = time.perf_counter() - began
            least = min(least, took)
            quiet = quiet + 1 if took < 3 * least else 0
            if quiet == QUIET:
                break
        time.sleep(PERIOD)
