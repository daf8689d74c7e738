"""Who came when to a reduction, on one clock."""

import time

import numpy as np

from ..comm.clock import align, one_clock

LONGEST = 16.0  # seconds between two looks at clocks that differ, once the run has lasted as long


class Arrivals:
    """Who came when to a reduction, told by the reduction itself: each rank adds its moment to its own place in the tail.

    Moments are float32 seconds since the last rank's arrival at the step before, which all ranks know, so they
    are good to 0.1 microseconds; on several hosts to the uncertainty of `clock`. Where there are no places for them, nobody is
    said to wait.

    Parameters
    ----------
    comm : Communicator
    places : ndarray
        In the tail, one a rank, or none.
    clock : callable
        Seconds on this rank's clock.

    Attributes
    ----------
    clock : Clock
        How this rank's clock goes, once `align` was called.
    one : bool
        Whether all ranks read one clock.
    """

    def __init__(self, comm, places, clock=time.perf_counter):
        self.comm, self.places, self.read = comm, places, clock
        self.one, self.clock = one_clock(comm, clock), None
        self.begun, self.next = clock(), 0.0

    def align(self):
        """Find out how this rank's clock goes, and return that; collective."""
        first, self.clock = self.clock is None, align(self.comm, self.read, self.clock, self.one)
        if first:
            self.reference = float(self.comm.Bcast(np.array([self.clock.moment]))[0])
        since = self.read() - self.begun
        self.next = self.read() + min(max(1.0, since), LONGEST)  # a first look says nothing of how fast clocks drift apart
        return self.clock

    def due(self, now):
        """Whether it is time to look at the clocks again; never where there is only one."""
        return not self.one and now > self.next

    def moment(self, now):
        """`now` on the clock that all ranks have in common."""
        return now + self.clock.offset - self.reference

    def tell(self, now):
        """Write down that this rank arrives `now`."""
        self.own = self.moment(now)
        if self.places.size:
            self.places[self.comm.rank] = self.own

    def waited(self):
        """After the reduction: seconds from this rank's arrival to the last one's."""
        if not self.places.size:
            return 0.0
        last = max(self.places.tolist())  # a few numbers: quicker than NumPy
        self.reference += last
        return last - self.own
