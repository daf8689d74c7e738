"""What has been started and is still held by somebody: ended when the last one lets go of it."""

import atexit
import os
import threading
import time
import weakref


class Process:
    """This process, as far as clusters have to know."""

    ending = False  # its exit functions run


def _ending():
    Process.ending = True


class Started:
    """Ranks that run, and what all `Cluster` objects that use them share.

    Attributes
    ----------
    crew : Engines or ThreadRanks
    asked : Asked
        With which arguments it was started.
    last : Run or None
        The newest run on it.
    since : float
        Seconds since 1970.
    """

    def __init__(self, crew, asked):
        self.crew, self.asked, self.last, self.since = crew, asked, None, time.time()
        self.lock, self._holders, self._pid = threading.RLock(), 0, os.getpid()

    @property
    def runs(self):
        """Whether it has not been stopped."""
        return not self.crew.stopped

    def held_by(self, owner):
        """Count `owner` among those who hold it; a function that lets go, called by itself when `owner` is gone."""
        with self.lock:
            self._holders += 1
        finalizer = weakref.finalize(owner, _let_go, self)
        atexit.unregister(_ending)
        atexit.register(_ending)  # what is registered last runs first: before all finalizers
        return finalizer

    def stop(self):
        """End the ranks, for all who hold them."""
        if os.getpid() == self._pid:  # a fork of this process has no say in it
            self.crew.stop()


def _let_go(started):
    with started.lock:
        started._holders -= 1
        if not started._holders:
            started.stop()
