"""`Timeline`: the steps of a run that were looked at closely, as a picture, as columns, as a file for Perfetto."""

import os

from matplotlib import rc_context

from ..tracing import save, traced_steps
from .axes import INCHES, STYLE, WIDTH, paper, sheet
from .gantt import gantt, nothing
from .spans_of import spans_of
from .step_words import MOST

LEFT, RIGHT, TOP, BOTTOM, RANK = 0.95, 0.15, 0.62, 1.05, 0.56  # inches beside the Axes, and of a rank's row


class Timeline:
    """The traced steps of a run; in a notebook it shows one of them.

    Parameters
    ----------
    records : iterable of records

    Attributes
    ----------
    steps : list of TracedStep
        In order; `step.step` is the number.

    Examples
    --------
    >>> from dtnn.records import Clock, Span, Trace
    >>> spans = [Span(0, "forward", 0, 0.0, 0.002, "forward"), Span(0, "backward", 0, 0.002, 0.004, "backward")]
    >>> timeline = Timeline([Clock(0, 0.0, 0.0, 0.0, 0.0), Trace(0, 7, 1.0, 0.006, spans, [], 0.0)])
    >>> timeline
    Timeline(1 traced step of 1 rank; step 7 took 6 ms)
    >>> timeline.columns()["name"]
    ['forward', 'backward']
    """

    def __init__(self, records):
        self.records = list(records)
        self.steps = traced_steps(self.records)

    @property
    def typical(self):
        """The step of median length among those that most ranks told of; None without any."""
        most = max((len(step.ranks) for step in self.steps), default=0)
        whole = sorted((step for step in self.steps if len(step.ranks) == most), key=lambda step: step.seconds)
        return whole[len(whole) // 2] if whole else None

    def step(self, number):
        """The traced step of that number, or the nearest one."""
        if not self.steps:
            raise ValueError("no step of this run was traced; fit(trace=True) traces one every half second, trace=1 every step")
        return min(self.steps, key=lambda step: abs(step.step - number))

    def columns(self):
        """All spans as columns of equal length, such as ``pandas.DataFrame`` takes.

        Returns
        -------
        dict of str to list
            "step", "rank", "phase", "name", "bytes"; "begin" and "seconds", in seconds since the step's begin on rank 0's clock.
        """
        return spans_of(self.steps)

    def figure(self, step=None, width=WIDTH):
        """A step, the typical one if none is asked for, as a matplotlib Figure; `width` in pixels."""
        chosen = self.typical if step is None else self.step(step)
        rows = min(MOST, len(chosen.ranks)) if chosen else 2
        tall = TOP + BOTTOM + RANK * rows
        with rc_context(STYLE):
            drawn = sheet(tall, width / WIDTH)
            place = LEFT / INCHES, BOTTOM / tall, 1 - (LEFT + RIGHT) / INCHES, RANK * rows / tall
            ax = drawn.add_axes(place)
            if chosen:
                gantt(chosen, ax)
            else:
                nothing(ax)
        return paper(drawn)

    def picture(self, step=None, width=WIDTH):
        """The same as the bytes of a PNG."""
        with rc_context(STYLE):
            return self.figure(step, width)._repr_png_()

    def save(self, path):
        """Write all steps as ``.json``, for ui.perfetto.dev or Chrome, or the typical one as a picture (``.png``, ``.svg``).

        With ``{rank}`` in a ``.json``'s name there is a file for each rank, as tools want that compare ranks.
        """
        name = os.fspath(path)
        if name.lower().endswith(".json"):
            save(self.records, name)
        else:
            with rc_context(STYLE):
                self.figure().savefig(name)

    def __len__(self):
        return len(self.steps)

    def __repr__(self):
        if not self.steps:
            return "Timeline(no step was traced)"
        count, ranks, typical = len(self.steps), len(self.typical.ranks), self.typical
        words = f"{count} traced step{'s' * (count != 1)} of {ranks} rank{'s' * (ranks != 1)}"
        return f"Timeline({words}; step {typical.step} took {1e3 * typical.seconds:.3g} ms)"

    def _repr_png_(self):
        return self.picture()
