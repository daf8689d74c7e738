"""`spans_of`: what was measured in steps that were looked at closely, as columns."""

from .columns import table


def spans_of(steps):
    """All spans of steps as columns, see `Timeline.columns`."""
    names = "step", "rank", "phase", "name", "bytes", "begin", "seconds"
    rows = [
        (step.step, rank, span.phase, span.name, span.bytes, span.time, span.seconds)
        for step in steps
        for rank in step.ranks
        for span in step.spans(rank)
    ]
    return table(names, rows)
