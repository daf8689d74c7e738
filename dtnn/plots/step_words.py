"""What the picture of a step says in words, and what of it is drawn."""

from ..tracing.path import waits
from ..tracing.steps import known

MOST = 12  # ranks that are drawn; of more those that matter most


def title(step):
    """What the picture says, in a line or two."""
    words = f"Step {step.step:,}: {milliseconds(step.seconds)}"
    found = waits(step)
    if found:
        rank, other, seconds = found[0]
        words += f"  ·  rank {other} came last; rank {rank} waited {milliseconds(seconds)} for it"
    if len(step.ranks) > MOST:
        words += f"\n{MOST} of {len(step.ranks)} ranks: those of the critical path, and those that waited longest"
    return words


def shown(step, path, found):
    """The ranks that are drawn: all, or those on the critical path and those that waited longest."""
    wanted = dict.fromkeys([*(leg.rank for leg in path), *(rank for rank, _, _ in found), *step.ranks])
    return sorted(list(wanted)[:MOST], key=lambda rank: (rank not in step.aligned, rank))


def name(step, rank):
    clock = step.clocks.get(rank)
    if rank not in step.aligned:
        return f"rank {rank}\nnot aligned"
    if known(clock) and clock.uncertainty:
        return f"rank {rank}\n± {milliseconds(clock.uncertainty)}"
    return f"rank {rank}"


def received(step, rank):
    """Pairs of the message and the span in which this rank received it; the n-th of one sender is the n-th received from it."""
    spans = [span for span in step.communication(rank) if span.name.startswith("Recv from ")] if rank in step.aligned else []
    for source in step.aligned:
        got = [span for span in spans if span.name == f"Recv from {source}"]
        yield from zip((message for message in step.messages(source) if message.dest == rank), got) if got else ()


def milliseconds(seconds):
    """Seconds, of which there are few.

    >>> milliseconds(0.00312), milliseconds(0.000012)
    ('3.12 ms', '12 µs')
    """
    return f"{1e3 * seconds:.3g} ms" if seconds >= 0.0001 else f"{1e6 * seconds:.0f} µs"
