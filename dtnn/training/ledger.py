"""Where a step's time goes, on this rank's own clock and against the other ranks'."""

import platform
import time
import zlib

import numpy as np

from ..records import Ledger

PHASES = ("data", "forward", "backward", "pack", "wait", "transfer", "update")


class Stopwatch:
    """Adds up the seconds of the phases of the steps since the last `Ledger` record.

    Parameters
    ----------
    rank : int
        The rank whose time it is.
    every : float
        Seconds between two records.
    stretch : callable, optional
        Called at the end of each phase, before the clock is read: a rank that is to be slow sleeps (`Emulated.stretch`).
    """

    def __init__(self, rank, every=0.25, stretch=None):
        self.rank, self.every, self.stretch = rank, every, stretch
        self.begin()

    def begin(self):
        """Nothing counted yet; the clock runs."""
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.steps = self.samples = self.bytes = 0
        self.hidden = 0.0
        self.started = self.mark = time.perf_counter()

    def lap(self, phase):
        """What passed since the last lap was spent in `phase`; returns the time now."""
        if self.stretch is not None:
            self.stretch()
        now = time.perf_counter()
        self.seconds[phase] += now - self.mark
        self.mark = now
        return now

    def reduced(self, waited, packed=0.0, begun=0.0, hidden=0.0):
        """The lap that ends is a reduction.

        Parameters
        ----------
        waited : float
            So many of its seconds went by before the last rank arrived.
        packed : float
            So many were spent packing and unpacking.
        begun : float
            So many seconds of the lap before, of backward, were spent beginning it.
        hidden : float
            So many seconds was it on its way before this lap began.
        """
        now = time.perf_counter()
        took = now - self.mark - packed
        waited = min(max(waited, 0.0), took)
        for phase, seconds in (("wait", waited), ("pack", packed), ("transfer", took - waited + begun), ("backward", -begun)):
            self.seconds[phase] += seconds
        self.hidden += hidden
        self.mark = now

    def step(self, samples, handed):
        """A step ends that took `samples` samples and handed over `handed` bytes."""
        self.steps += 1
        self.samples += samples
        self.bytes += handed

    @property
    def due(self):
        """Whether the next record should be told."""
        return self.mark - self.started >= self.every

    def record(self, step):
        """The `Ledger` of the time since the last one, and a fresh start."""
        now = time.perf_counter()
        told = Ledger(
            rank=self.rank,
            step=step,
            steps=self.steps,
            samples=self.samples,
            bytes=self.bytes,
            hidden=self.hidden,
            **self.seconds,
            seconds=now - self.started,
            time=time.time(),
        )
        self.begin()
        return told


class Arrivals:
    """Who came when to a reduction, told by the reduction itself: each rank adds its moment to its own place in the tail.

    Moments are float32 seconds since the last rank's arrival at the step before, which all ranks know, so they
    are good to 0.1 microseconds. Valid where the ranks' clocks are one: on one host (`comparable`); elsewhere, and
    where there are no places for them, nobody is said to wait.
    """

    def __init__(self, comm, places):
        self.rank, self.places = comm.rank, places
        self.comparable = places.size > 0 and _on_one_host(comm)
        self.reference = _clock_of_rank_0(comm)

    def tell(self, now):
        """Write down that this rank arrives `now`."""
        self.own = now - self.reference
        if self.comparable:
            self.places[self.rank] = self.own

    def waited(self):
        """After the reduction: seconds from this rank's arrival to the last one's."""
        if not self.comparable:
            return 0.0
        last = float(self.places.max())
        self.reference += last
        return last - self.own


def _on_one_host(comm):
    name = np.array([zlib.crc32(platform.node().encode())], np.float64)
    lowest, highest = name.copy(), name.copy()
    comm.Allreduce(lowest, "min")
    comm.Allreduce(highest, "max")
    return bool(lowest == highest)


def _clock_of_rank_0(comm):
    moment = np.array([time.perf_counter()])
    comm.Bcast(moment)
    return float(moment[0])
