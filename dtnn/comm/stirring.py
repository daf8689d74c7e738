"""`Stirring`: a thread that keeps messages moving while this rank computes and calls nothing of MPI."""

import threading
import time

PERIOD = 0.0002  # seconds between two stirs
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
    """What the thread does."""
    while time.monotonic() < wanted.until and stir():
        time.sleep(PERIOD)
