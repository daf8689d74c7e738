"""What a step's time hung on: the critical path, and who waited for whom."""

from dataclasses import dataclass

from ..allowed import shown
from .steps import arrival


@dataclass(frozen=True)
class Leg:
    """A piece of the critical path: a phase of a rank; seconds since the step's begin."""

    rank: int
    phase: str
    begin: float
    end: float


def critical_path(step):
    """The chain of phases that made the step as long as it was, in order: only what lies on it, made shorter, shortens the step.

    It is found from the end: from the rank that finished last back through its phases; where it waited, on to the rank that
    came last to the exchange, which it waited for.

    Parameters
    ----------
    step : TracedStep
        Only its aligned ranks are looked at.

    Returns
    -------
    list of Leg

    Examples
    --------
    >>> from dtnn.records import Span, Trace
    >>> from dtnn.tracing import traced_steps
    >>> spans = [Span(0, "forward", 0, 0.0, 0.1, "forward"), Span(0, "backward", 0, 0.1, 0.2, "backward")]
    >>> [step] = traced_steps([Trace(0, 7, 20.0, 0.3, spans, [], 0.0)])
    >>> [leg.phase for leg in critical_path(step)]
    ['forward', 'backward']
    """
    _check(step)
    phases = {rank: step.phases(rank) for rank in step.aligned}
    phases = {rank: spans for rank, spans in phases.items() if spans}
    if not phases:
        return []
    last, path = last_to_arrive(step), []
    rank = max(phases, key=lambda rank: (round(_end(phases[rank][-1]), 9), rank == last))
    left = list(phases[rank])
    while left:
        span = left.pop()
        if span.name == "wait" and last not in (None, rank):
            rank = last
            left = phases[rank][: arrival(phases[rank])]
        elif span.seconds > 0:
            path.append(Leg(rank, span.name, span.time, _end(span)))
    return path[::-1]


def waits(step):
    """Who waited for whom, the longest first: tuples of the rank that waited, the one it waited for, and seconds.

    Waits no longer than the clocks' uncertainty are left out: nobody knows of them.

    >>> from dtnn.records import Span, Trace
    >>> from dtnn.tracing import traced_steps
    >>> spans = [Span(0, "forward", 0, 0.0, 0.1, "forward"), Span(0, "backward", 0, 0.1, 0.2, "backward")]
    >>> [step] = traced_steps([Trace(0, 7, 20.0, 0.3, spans, [], 0.0)])
    >>> waits(step)
    []
    """
    _check(step)
    last = last_to_arrive(step)
    found = []
    for rank in step.aligned:
        seconds = sum(span.seconds for span in step.phases(rank) if span.name == "wait")
        if rank != last and seconds > step.uncertainty:
            found.append((rank, last, seconds))
    return sorted(found, key=lambda entry: -entry[2])


def last_to_arrive(step):
    """The rank that came last to the exchange of gradients; None where nobody exchanged any."""
    arrivals = {}
    for rank in step.aligned:
        phases = step.phases(rank)
        place = arrival(phases)
        if place < len(phases):
            arrivals[rank] = phases[place].time
    return max(arrivals, key=arrivals.get) if len(arrivals) > 1 else None


def _check(step):
    if not hasattr(step, "aligned") or not hasattr(step, "phases"):
        raise TypeError(f"step={shown(step)}: give a TracedStep, as traced_steps(run.records) makes them")


def _end(span):
    return span.time + span.seconds
