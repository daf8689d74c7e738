"""Where a step's time goes, on this rank's own clock."""

import math
import time

from ..records import Ledger

PHASES = ("data", "forward", "backward", "pack", "wait", "transfer", "update")
SLEPT = 1e-5  # seconds; less is no sleep


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
    clock : callable
        Seconds.

    Attributes
    ----------
    mark : float
        When the last lap ended.
    spans : list or None
        Where laps are noted, one by one, in a step that is traced: (name, phase, begin, end).
    """

    def __init__(self, rank, every=0.25, stretch=None, clock=time.perf_counter):
        self.rank, self.every, self.stretch, self.clock, self.spans = rank, every, stretch, clock, None
        self.begin()

    def begin(self):
        """Nothing counted yet; the clock runs."""
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.steps = self.samples = self.bytes = 0
        self.hidden = self.loss = 0.0
        self.started = self.mark = self.clock()

    def lap(self, phase):
        """What passed since the last lap was spent in `phase`; returns the time now."""
        if self.stretch is not None:
            self._slow_down(phase)
        now = self.clock()
        self.seconds[phase] += now - self.mark
        if self.spans is not None:
            self._note(phase, phase, self.mark, now)
        self.mark = now
        return now

    def _slow_down(self, phase):
        begin = self.clock()
        self.stretch()
        end = self.clock()
        if end - begin > SLEPT and self.spans is not None:
            self._note("slowed down", phase, begin, end)

    def _note(self, name, phase, begin, end):
        if end <= begin:
            return
        if self.spans and self.spans[-1][:2] == (name, phase) and self.spans[-1][3] == begin:
            begin = self.spans.pop()[2]  # one phase that was looked at in between
        self.spans.append((name, phase, begin, end))

    def skip(self):
        """What passed since the last lap is no phase's time, and no step's."""
        now = self.clock()
        self.started, self.mark = self.started + now - self.mark, now

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
        now = self.clock()
        took = now - self.mark - packed
        waited, seconds = min(max(waited, 0.0), took), self.seconds
        if self.spans is not None:
            arrived, moved = self.mark + waited, self.mark + waited + packed
            for phase, begin, end in (("wait", self.mark, arrived), ("pack", arrived, moved), ("transfer", moved, now)):
                self._note(phase, phase, begin, end)
        seconds["wait"] += waited
        seconds["pack"] += packed
        seconds["transfer"] += took - waited + begun
        seconds["backward"] -= begun
        self.hidden += hidden
        self.mark = now

    def step(self, samples, handed, loss=math.nan):
        """A step ends that took `samples` samples and handed over `handed` bytes; `loss` is the sum of the samples' losses."""
        self.loss += loss
        self.steps += 1
        self.samples += samples
        self.bytes += handed

    @property
    def due(self):
        """Whether the next record should be told."""
        return self.mark - self.started >= self.every

    def record(self, step):
        """The `Ledger` of the time since the last one, and a fresh start."""
        now = self.clock()
        told = Ledger(
            rank=self.rank,
            step=step,
            steps=self.steps,
            samples=self.samples,
            bytes=self.bytes,
            hidden=self.hidden,
            loss=self.loss / self.samples if self.samples else math.nan,
            **self.seconds,
            seconds=now - self.started,
            time=time.time(),
        )
        self.begin()
        return told
