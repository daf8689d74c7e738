"""How often a live view draws: as often as one can look where a core has nothing else to do, else as little as a share allows."""

import os
import socket
import time

OFTEN = 0.5  # seconds between two pictures, at most, where a core idles
FREE_SHARE = 0.08  # of an idle core's time that drawing may take
SHARE = 0.0125  # of the training's time for drawing; with what it leaves in the caches, and records, measured to be 2 % at most
SELDOM = 5.0  # seconds between two pictures, at most
IDLE = 0.5  # of a core must have been idle for one to be called so
EAGER = 0.4  # seconds of drawing, a dozen pictures, that come early: whoever has just begun wants to see that it lives
ONCE = 2  # pictures that may take longer: the first ones import, and find fonts


class Pace:
    """Tells how long to wait before the next picture.

    Parameters
    ----------
    run : Run, or whatever a `Live` shows
        Where its `rows` say that its ranks are other processes, an idle core may draw without taking anything from them.
        Otherwise the training stands still meanwhile.
    often, seldom : float
        Seconds between two pictures, at most, where a core idles and where none does.
    eager : float
        Seconds of drawing that may come early.

    Notes
    -----
    Where none idles, t seconds of a run have pictures for ``SHARE t + EAGER`` seconds.
    """

    def __init__(self, run, often=OFTEN, seldom=SELDOM, eager=EAGER):
        self.run, self._often, self._seldom, self._eager, self._pictures = run, often, seldom, eager, 0
        self._since, self._idle = time.perf_counter(), idle_seconds()
        self._spent = 0.0  # seconds of drawing where no core idled

    def clock(self):
        """Seconds, in which the cost of a picture is measured: the processor's where it may be shared, else those that pass."""
        return time.thread_time() if self.apart else time.perf_counter()

    @property
    def apart(self):
        """Whether all ranks are processes of their own."""
        rows = getattr(self.run, "rows", None)
        here = socket.gethostname(), os.getpid()
        return bool(rows) and all((row.get("host"), row.get("pid")) != here for row in rows)

    def wait(self, cost, least):
        """Seconds to wait after a picture that cost so many; at least `least`."""
        self._pictures += 1
        if (self._core_idles() and self.apart) or self._pictures <= ONCE:
            return max(least, min(cost / FREE_SHARE, self._often))
        self._spent += cost
        share, most = (FREE_SHARE, self._often) if self._spent < self._eager else (SHARE, self._seldom)
        return max(least, min(cost / share, most))

    def _core_idles(self):
        """Whether a core had nothing to do since the last time this was asked."""
        now, idle = time.perf_counter(), idle_seconds()
        passed, idled = now - self._since, None if idle is None or self._idle is None else idle - self._idle
        self._since, self._idle = now, idle
        return idled is not None and passed > 0 and idled > IDLE * passed


def idle_seconds(file="/proc/stat"):
    """Seconds that the cores on which this process may run have idled so far, added up; None where the system doesn't say."""
    try:
        mine = {f"cpu{core}" for core in os.sched_getaffinity(0)}
        with open(file) as told:
            lines = [line.split() for line in told if line.startswith("cpu")]
        return sum(int(idle) + int(waiting) for name, *_, idle, waiting in (line[:6] for line in lines) if name in mine) / TICKS
    except (AttributeError, OSError, ValueError):
        return None


TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
