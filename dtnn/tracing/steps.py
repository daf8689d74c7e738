"""The traces of all ranks in one step, on one clock as far as their clocks are known."""

import dataclasses
import functools
import math

from ..allowed import listed
from ..records import Clock, Trace

EXCHANGE = ("pack", "wait", "transfer")  # the phases of a step that other ranks take part in
SHORT = 2e-6  # seconds; such a wait is none


class TracedStep:
    """One step as several ranks saw it.

    Parameters
    ----------
    traces : dict of int to Trace
        That of each rank.
    clocks : dict of int to Clock
        How the ranks' clocks go; a rank without one, or whose uncertainty is infinite, is not merged with the others.

    Attributes
    ----------
    step : int
    ranks : list of int
    aligned : list of int
        The ranks whose moments may be compared. One that is alone can be compared with itself.
    uncertainty : float
        Seconds by which moments of different ranks may be wrong.
    begin, seconds : float
        When it began, on rank 0's clock, and how long it took, over all aligned ranks.
    """

    def __init__(self, traces, clocks):
        self.traces, self.clocks = dict(sorted(traces.items())), clocks
        self.step, self.ranks = next(iter(traces.values())).step, list(self.traces)
        self.aligned = [rank for rank in self.ranks if len(self.ranks) == 1 or known(clocks.get(rank))]
        self.uncertainty = max((clocks[rank].uncertainty for rank in self.aligned if rank in clocks), default=0.0)
        begins = {rank: self.traces[rank].begin + self._offset(rank) for rank in self.aligned}
        self.begin = min(begins.values(), default=0.0)
        self._shifted = {}
        self._since = {rank: begin - self.begin for rank, begin in begins.items()}
        self.seconds = max(self.start(rank) + self.traces[rank].seconds for rank in self.aligned or self.ranks)

    def _offset(self, rank):
        return self.clocks[rank].offset if known(self.clocks.get(rank)) else 0.0

    def start(self, rank):
        """Seconds from the step's begin to that of this rank; 0 for one whose clock is not aligned."""
        return self._since.get(rank, 0.0)

    def spans(self, rank):
        """The rank's spans, with times since the step's begin."""
        if rank not in self._shifted:
            start = self.start(rank)
            self._shifted[rank] = [dataclasses.replace(span, time=span.time + start) for span in self.traces[rank].spans]
        return list(self._shifted[rank])

    def phases(self, rank):
        """Those that are whole phases, one after the other: data, forward, backward, wait, transfer, update ...

        Where ranks were too many to be told of their waits, these are found here: until the last rank had come.
        """
        phases = [span for span in self.spans(rank) if span.phase == span.name]
        place = arrival(phases)
        if self._last is None or rank not in self.aligned or place == len(phases):
            return phases
        first = phases[place]
        end = first.time + first.seconds
        until = min(self._last, end)
        if until - first.time <= max(SHORT, self.uncertainty):
            return phases
        wait = dataclasses.replace(first, name="wait", phase="wait", seconds=until - first.time)
        return [*phases[:place], wait, dataclasses.replace(first, time=until, seconds=end - until), *phases[place + 1 :]]

    @functools.cached_property
    def _last(self):
        """When the last rank came to the exchange, if no rank says that it waited; None if one does, or there is no other."""
        each = [[span for span in self.spans(rank) if span.phase == span.name] for rank in self.aligned]
        if len(each) < 2 or any(span.name == "wait" for phases in each for span in phases):
            return None
        return max((phases[arrival(phases)].time for phases in each if arrival(phases) < len(phases)), default=None)

    def layers(self, rank):
        """Those of single layers, forward and backward, and of the loss."""
        return [span for span in self.spans(rank) if span.phase and span.phase != span.name]

    def communication(self, rank):
        """Those of a communicator: collectives, and what was received."""
        return [span for span in self.spans(rank) if not span.phase]

    def messages(self, rank):
        """What the rank sent, with times since the step's begin."""
        return [dataclasses.replace(sent, time=sent.time + self.start(rank)) for sent in self.traces[rank].messages]

    def __repr__(self):
        return f"<step {self.step} of ranks {', '.join(map(str, self.ranks))}: {1000 * self.seconds:.2f} ms>"


def arrival(phases):
    """The place of the first phase of the exchange among a rank's phases; their number if there is none."""
    return next((place for place, span in enumerate(phases) if span.name in EXCHANGE), len(phases))


def known(clock):
    """Whether a clock can be compared with rank 0's."""
    return clock is not None and math.isfinite(clock.uncertainty)


def traced_steps(records):
    """All steps of which there are traces, in order.

    Parameters
    ----------
    records : iterable of records
        Of a run. A rank's clock is the one that it told last before its trace.

    Returns
    -------
    list of TracedStep

    Examples
    --------
    Rank 1's clock is ten seconds behind, and its step began one second later:

    >>> told = [Clock(0, 0.0, 0.0, 0.0, 0.0), Clock(1, 10.0, 0.001, 0.0, 0.0)]
    >>> told += [Trace(0, 7, 20.0, 2.0, [], [], 0.0), Trace(1, 7, 11.0, 2.0, [], [], 0.0)]
    >>> [found] = traced_steps(told)
    >>> found.start(1), found.seconds, found.uncertainty
    (1.0, 3.0, 0.001)
    """
    clocks, steps = {}, {}
    for record in listed("records", records, "records, such as run.records"):
        if isinstance(record, Clock):
            clocks[record.rank] = record
        elif isinstance(record, Trace):
            traces, then = steps.setdefault(record.step, ({}, {}))
            traces[record.rank] = record
            if record.rank in clocks:
                then[record.rank] = clocks[record.rank]
    return [TracedStep(*steps[step]) for step in sorted(steps)]
