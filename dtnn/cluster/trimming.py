"""Memory that was freed goes back to the system: glibc would keep what loading kernels and data took, 15 MB a rank."""

import contextlib
import ctypes
import threading

PAUSES = (1.0, 3.0, 10.0, 30.0)  # seconds, each since the one before: a run may load until its first step, and be paused then


class Trimmer:
    """Gives memory back from a thread of its own.

    Parameters
    ----------
    trim : callable
    pauses : sequence of float
        Seconds before each time, since the one before.
    """

    def __init__(self, trim, pauses=PAUSES):
        self._trim, self._pauses, self._changed, self._thread = trim, pauses, threading.Event(), None

    def soon(self):
        """Do so some seconds from now; may be asked often, each time takes some milliseconds. Always in the same thread."""
        self._changed.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="trimmer", daemon=True)
            self._thread.start()

    def _loop(self):
        while self._changed.wait():
            self._changed.clear()
            for pause in self._pauses:
                if self._changed.wait(pause):
                    break
                self._trim()


def trim():
    """Give back what is free now; where it isn't glibc that keeps it, nothing."""
    with contextlib.suppress(AttributeError, TypeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
