"""What each layer costs."""

from collections import defaultdict
from statistics import median

from ..allowed import listed
from ..records import Trace

SLOWED = "slowed down"  # a span of a rank that sleeps on purpose: no layer's


def layer_costs(records):
    """The seconds of each layer in a step, forward and backward, of a typical step of a typical rank; the dearest first.

    Parameters
    ----------
    records : iterable of records

    Returns
    -------
    dict of str to dict
        For each layer "forward" and "backward", medians over the traces; a layer used twice counts twice. "loss" stands for the
        loss and the metrics.

    Examples
    --------
    >>> from dtnn.records import Span
    >>> spans = [Span(0, "linear_1", 0, 0.0, 0.25, "forward"), Span(0, "linear_1", 0, 0.3, 0.5, "backward")]
    >>> layer_costs([Trace(0, 1, 0.0, 1.0, spans, [], 0.0)])
    {'linear_1': {'forward': 0.25, 'backward': 0.5}}
    """
    seconds = defaultdict(lambda: {"forward": [], "backward": []})
    for record in listed("records", records, "records, such as run.records"):
        if isinstance(record, Trace):
            for (name, phase), spent in _sums(record).items():
                seconds[name][phase].append(spent)
    costs = {name: {phase: median(listed or [0.0]) for phase, listed in phases.items()} for name, phases in seconds.items()}
    return dict(sorted(costs.items(), key=lambda entry: -sum(entry[1].values())))


def _sums(trace):
    """The seconds of each layer and phase in one trace."""
    sums = defaultdict(float)
    for span in trace.spans:
        if span.phase in ("forward", "backward") and span.name not in (span.phase, SLOWED):
            sums[span.name, span.phase] += span.seconds
    return sums
