"""`Vanished`: since when the processes of ranks are no more, whatever their launcher has noticed of that."""

import time

from . import signature
from .pid import Pid

PERIOD = 0.5  # seconds between two looks


class Vanished:
    """Looks after the processes of those ranks that are on this host.

    A launcher of MPI that sees a rank die ends the others and itself, and that is how a death is noticed. Should it not see it
    (one that just leaves isn't killed by anything), the heart that no longer beats is believed only after 20 s.

    Parameters
    ----------
    hellos : list of dict
        What ranks have said of themselves, by rank.
    """

    def __init__(self, hellos):
        here = signature.place()
        pids = {rank: Pid.of(hello["pid"]) for rank, hello in enumerate(hellos) if hello.get("place") == here}
        self._pids = {rank: pid for rank, pid in pids.items() if pid.born is not None}
        self._since, self._next = {}, 0.0

    def seconds(self, rank):
        """For how long a rank's process has been seen to be gone; 0 while it is there, or where it can't be seen from here."""
        now = time.monotonic()
        if now > self._next:
            self._next = now + PERIOD
            for gone in [rank for rank, pid in self._pids.items() if pid.has_ended()]:
                self._since.setdefault(gone, now)
        return now - self._since[rank] if rank in self._since else 0.0
