"""`Pace`: a rank that computes slower than it does."""


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
