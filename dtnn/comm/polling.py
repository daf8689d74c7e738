"""How a rank waits for MPI without becoming deaf: it asks again and again, and looks round in between."""

import os
import platform
import time

from ..machine import cores

BRIEF_SECONDS = 0.0003  # so long a message may be on its way between ranks that share a core
EAGER_SECONDS = 0.02
SLOWEST_LINK = 1e8  # bytes/s: while a message of that speed may still be on its way, sleeping would slow it down
LONGEST_SLEEP = 0.001
DOUBTFUL = 1.0  # seconds of a wait, after which a rank asks itself whether it will ever end


class Patience:
    """The way to poll on one rank.

    Where every rank of a host has a core of its own, polling without a pause is as fast as MPI's blocking calls; only after a
    while is the core offered, to whatever else this machine may have to do.  Where ranks share cores, whoever polls keeps the
    others from working; so each poll offers the core to others, and soon gives it away.  A wait that takes long (someone
    paused, or computes) sleeps between the polls, up to a millisecond at a time.

    Parameters
    ----------
    crowded : bool
        Whether the ranks of this host are more than its cores.
    doubt : callable, optional
        Called again and again in a wait that has lasted `DOUBTFUL` seconds; may raise.

    Notes
    -----
    Four ranks on two cores, one float, measured: offering (``sched_yield``) 30 us, giving away (``sleep(0)``) 250 us, MPI's
    blocking call 37 us; when the others compute, both take the same time a step.
    """

    def __init__(self, crowded, doubt=None):
        offer = getattr(os, "sched_yield", _give_away)
        self.pauses = (offer, _give_away) if crowded else (_go_on, offer)
        self.polls, self.doubt = 8 if crowded else 64, doubt

    def wait(self, test, look, size=0):
        """Return when `test()` is true; call `look()`, which may raise, every few polls.

        Parameters
        ----------
        test, look : callable
        size : int
            Bytes that are waited for.
        """
        started, eager = time.perf_counter(), EAGER_SECONDS + size / SLOWEST_LINK
        pause, later = self.pauses
        while not self._soon(test, pause):
            look()
            elapsed = time.perf_counter() - started
            if elapsed > BRIEF_SECONDS:
                pause = later
            if elapsed > eager:
                time.sleep(min(LONGEST_SLEEP, elapsed / 100))
            if elapsed > DOUBTFUL and self.doubt is not None:
                self.doubt()

    def _soon(self, test, pause):
        for _ in range(self.polls):
            if test():
                return True
            pause()
        return False


def is_crowded(world):
    """Whether the ranks of `world` on this host are more than the cores they may use; collective.

    Launchers may tie each rank to cores of its own, so what counts is all cores that any of them may use.
    """
    host = platform.node()
    here = [theirs for name, theirs in world.allgather((host, _my_cores())) if name == host]
    return len(here) > len(set().union(*here))


def _my_cores():
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(cores()))


def _give_away():
    time.sleep(0)


def _go_on():
    pass
