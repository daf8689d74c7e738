"""`Rendezvous`: where ranks of one host wait for each other, and see what each has to say."""

import platform
from functools import partial

POSSIBLE = platform.machine() in ("x86_64", "AMD64")  # others may show a rank what comes later before what comes earlier
MOST = 2**63 - 1
COUNT, SAID, BEGUN = 0, 1, 5  # places in a rank's line; of what is said there are two, by turns


class Crossed(Exception):
    """Ranks have made calls in different orders, so that they will not meet."""


class Rendezvous:
    """A barrier at which each rank says two numbers: one that must be everybody's, and one of its own.

    Each rank has a cache line in memory that all see. Whoever comes writes what it says, then that it has come for the n-th
    time, and waits until that is in everybody's line. It needs no message, so it is quicker than MPI's.

    Parameters
    ----------
    comm : MPI
        Whose ranks meet; its `wait` is how they wait.
    lines : memoryview of int64
        Zero at first.
    distance : int
        So many numbers from the beginning of a rank's line to that of the next rank's.

    Notes
    -----
    It needs a processor on which what one core writes first, others see first, as x86 is. One that is quick may come to the next
    meeting before others have read what it said at this one, never to the one after that; hence two places.
    """

    def __init__(self, comm, lines, distance):
        self.comm, self.lines, self.count = comm, lines, 0
        self.places = [rank * distance for rank in range(comm.size)]
        self.own = self.places[comm.rank]
        self.others = [place for place in self.places if place != self.own]
        self.begun = 0

    def meet(self, common=0, own=0):
        """Wait for all; collective.

        Parameters
        ----------
        common, own : int
            Of up to 63 bits.

        Returns
        -------
        list of int, or None
            What each rank said of its own; None, on all ranks, if what should be common isn't, or has been begun otherwise.
        """
        lines = self.lines
        said = SAID + 2 * ((self.count + 1) % 2)
        common = (common + self.begun) & MOST
        lines[self.own + said], lines[self.own + said + 1] = common, own
        try:
            self.wait()
        except Crossed:
            return None
        for place in self.others:
            if lines[place + said] != common:
                return None
        return [lines[place + said + 1] for place in self.places]

    def wait(self):
        """Wait for all, where nothing is to be said: ranks that have just met do the same; collective."""
        comm, self.count = self.comm, self.count + 1
        comm.under_way += 1
        self.lines[self.own + COUNT] = self.count
        if not self._all_there(self.count):
            comm.wait(partial(self._all_there, self.count), 0, self._look)
        comm.under_way -= 1

    def begin(self):
        """Count something that is begun without waiting for others, which all ranks have to begin between the same meetings."""
        self.begun += 1
        self.lines[self.own + BEGUN] = self.begun

    def crossed(self):
        """Whether another rank has come to a later meeting than this one without having begun as much, or the other way round."""
        for place in self.others:
            begun = self.lines[place + BEGUN]
            count = self.lines[place + COUNT]
            if begun == self.lines[place + BEGUN] and (count - self.count) * (begun - self.begun) < 0:
                return True
        return False

    def missing(self):
        """The ranks that have not come to the meeting that this one is at, and what it was called with as common."""
        said = self.lines[self.own + SAID + 2 * (self.count % 2)]
        late = [rank for rank, place in enumerate(self.places) if self.lines[place + COUNT] < self.count]
        return late, (said - self.begun) & MOST

    def _look(self):
        self.comm.look()
        if self.crossed():
            raise Crossed

    def _all_there(self, count):
        return min(map(self.lines.__getitem__, self.others)) >= count
