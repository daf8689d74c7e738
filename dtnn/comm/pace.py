"""`Pace`: a rank that computes slower than it does; and how a rank sleeps that must not become deaf."""

import time

NAP = 0.05  # seconds that a rank sleeps at most before it looks round


class Pace:
    """Stretches whatever a rank does between two calls, by sleeping before the second.

    Parameters
    ----------
    factor : float
        How many times as long its computing takes.
    clock, sleep : callable
        Where the seconds come from.
    """

    def __init__(self, factor, clock, sleep):
        self.factor, self.clock, self.sleep = factor, clock, sleep
        self.owed, self.left = 0.0, clock()

    def stretch(self):
        """Sleep for what has been computed since the last `rest`."""
        now = self.clock()
        self.owed += (self.factor - 1) * (now - self.left)
        if self.owed > 0:
            self.sleep(self.owed)
            self.owed -= self.clock() - now  # who slept too long sleeps less the next time

    def rest(self):
        """From here on it computes again; what it did before was no work."""
        self.left = self.clock()


def doze(seconds, look):
    """Sleep, but call `look`, which may raise, meanwhile: so that an interrupt or another rank's failure ends it."""
    until = time.perf_counter() + seconds
    while (left := until - time.perf_counter()) > 0:
        if left > NAP:
            look()
        time.sleep(min(left, NAP))
