"""Several runs in one picture: a metric of each against epochs, or against the time it took."""

import math
import textwrap

import numpy as np
from matplotlib import rc_context
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from .. import records as r
from ..allowed import listed
from .axes import STYLE, axes_or_new, dress, paper, remark, sheet
from .curves import MARKED, TITLES
from .fitted import Fitted
from .given import records_of
from .headline import is_share
from .key import key
from .limits import DECADE, few_ticks
from .palette import FAINT, RANKS
from .smooth import smooth, smoothed, smoothing_of
from .story import Story

MARKS = "o", "s", "^"  # eight runs each
AGAINST = "epoch", "seconds", "step"
WIDE = 22  # letters of a line of the legend


def overlay(runs, ax=None, metric="loss", against="epoch", smoothing=0.0):
    """Draw a metric of several runs: a colour each, training values as a line, validation values dashed.

    Parameters
    ----------
    runs : dict of str to records, or list of these
        Of each run its records, or what has them as `records` (`Run`, `History`); live ones are drawn as they are now.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    metric : str
        "loss", or a name in the epochs' metrics, such as "accuracy".
    against : {"epoch", "seconds", "step"}
        "seconds" since the run began, pauses left out: which one is sooner as good.
    smoothing : float
        Over which share of its points the running mean of each line is taken, below 1; the numbers are faint behind it.

    Returns
    -------
    matplotlib Axes
        Its lines are labelled "name" and "name, validation"; means have no label.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> told = [r.Epoch(n, 10 * n, 640, 0.5, 0.1, {"loss": 2.0 / n}, n / 2) for n in (1, 2)]
    >>> ax = overlay({"a": [r.Start(0.0, 1), *told]}, ax=Figure().add_subplot(), against="seconds")
    >>> [(line.get_label(), line.get_xdata().tolist(), line.get_ydata().tolist()) for line in ax.lines]
    [('a', [0.5, 1.0], [2.0, 1.0])]
    """
    _check(against)
    if not isinstance(runs, dict):
        runs = {f"run {number}": run for number, run in enumerate(listed("runs", runs, "runs, or a dict of them by name"), 1)}
    ax = axes_or_new(ax)
    _legend(ax, _lines(ax, {name: list(records_of(run)) for name, run in runs.items()}, metric, against, smoothing_of(smoothing)))
    return ax


def _check(against):
    if against not in AGAINST:
        raise ValueError(f"against={against!r} is not known; choose 'epoch', 'seconds' or 'step'")


def _lines(ax, runs, metric, against, smoothing):
    """Everything but the legend; returns what is to be in it: lines with their labels."""
    dress(ax, TITLES.get(metric, metric), against if against != "seconds" else "seconds since it began")
    shown = []
    for place, (name, records) in enumerate(runs.items()):
        look = {
            "color": RANKS[place % len(RANKS)],
            "marker": MARKS[place // len(RANKS) % len(MARKS)],
            "markersize": 4.5,
            "linewidth": 1.6,
        }
        shown += _draw(ax, name, records, metric, against, look, smoothing)
    _frame(ax, metric, against)
    return shown


def _draw(ax, name, records, metric, against, look, smoothing):
    """The lines of a run; returns those for the legend with their labels."""
    epochs = [record for record in records if type(record) is r.Epoch]
    clock = _clock(records) if against == "seconds" else None
    training, validation = (_points(epochs, which, against, clock) for which in (metric, f"val_{metric}"))
    if metric == "loss" and len(training[0]) < 2:  # too few epochs to see anything
        training = _steps(records, against, clock) or training
    shown = []
    for label, (x, y), line in ((name, training, "-"), (f"{name}, validation", validation, "--")):
        if len(x):
            drawn = {**look, "marker": look["marker"] if len(x) <= MARKED else "", "linestyle": line, "label": label}
            shown.append((smoothed(ax, x, y, smoothing, **drawn), label))
    return shown


def _points(epochs, metric, against, clock):
    """Where the epochs lie, and their values of a metric."""
    told = [epoch for epoch in epochs if epoch.metrics.get(metric) is not None]
    place = {"epoch": lambda e: e.epoch, "step": lambda e: e.step, "seconds": lambda e: clock(e.time)}[against]
    return [place(epoch) for epoch in told], [epoch.metrics[metric] for epoch in told]


def _steps(records, against, clock):
    """Where the means of steps lie, and their losses, smoothed; None before the first."""
    story = Story([record for record in records if type(record) is not r.Ledger])
    if not len(story.steps):
        return None
    x, y = np.asarray(story.steps.x), np.asarray(story.steps.y)
    if against == "epoch":
        x = story.epoch_of(x)
    elif against == "seconds":
        steps = [record for record in records if type(record) is r.Step]
        x = np.interp(x, [step.step for step in steps], [clock(step.time) for step in steps])
    mean = smooth(y)
    return list(x), list(np.where(np.isnan(mean), y, mean))


def _clock(records):
    """The function that makes seconds of training of a moment: since the (last) beginning, pauses left out."""
    begin = next((record.time for record in reversed(records) if isinstance(record, r.Start)), None)
    if begin is None:
        begin = min((record.time for record in records if hasattr(record, "time")), default=0.0)
    pauses = [(record.time, record.seconds) for record in records if isinstance(record, r.Resumed)]
    return lambda moment: moment - begin - sum(seconds for time, seconds in pauses if begin <= time <= moment)


def _frame(ax, metric, against):
    """Limits and scale."""
    ax.autoscale_view()
    values = np.concatenate([np.empty(0), *(np.asarray(line.get_ydata(), float) for line in ax.lines)])
    values = values[np.isfinite(values)]
    if is_share(metric):
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        if len(values):
            ax.set_ylim(max(0.0, math.floor(values.min() * 10 - 0.2) / 10), 1.01)
    elif len(values) and values.min() > 0 and values.max() > DECADE * values.min():
        ax.set_yscale("log")
        few_ticks(ax)
    if against != "seconds":
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
        middle = sum(ax.get_xlim()) / 2
        if np.diff(ax.get_xlim()) < 1:  # there is no half of an epoch
            ax.set_xlim(middle - 0.6, middle + 0.6)
    if not ax.lines:
        remark(ax).set_text(f"no {metric} yet in any of these runs")


def _legend(ax, shown):
    """A legend beside the picture: a colour for each run."""
    if not shown:
        return
    handles = [(line, label) for line, label in shown if line.get_linestyle() == "-"]
    named = {label for _, label in handles}
    dashed = [(line, label) for line, label in shown if line.get_linestyle() == "--"]
    handles += [(line, label) for line, label in dashed if label.removesuffix(", validation") not in named]
    if dashed:
        handles.append((Line2D([], [], color=FAINT, linestyle="--", lw=1.6), "validation"))
    words = [textwrap.fill(label, WIDE) for _, label in handles]
    key(ax, [line for line, _ in handles], words)


def overlay_figure(runs, metric="accuracy", against="epoch", smoothing=0.0):
    """The loss of several runs, and beside it another metric, as a matplotlib Figure; see `overlay` for the parameters."""
    _check(against)
    with rc_context(STYLE):
        shown = ["loss", metric] if metric and metric != "loss" else ["loss"]
        rows = 0.24 * max(0, len(runs) - 8)  # a longer legend
        drawn = sheet(3.1 + rows, layout=Fitted())
        runs = {name: _needed(records_of(run)) for name, run in runs.items()}
        for place, name in enumerate(shown, 1):
            ax = drawn.add_subplot(1, len(shown), place)
            lines = _lines(ax, runs, name, against, smoothing_of(smoothing))
        _legend(ax, lines)  # the last one's is for all
        return paper(drawn)


def _needed(records):
    """Those of a run that both pictures look for, sought once: there are many that neither of them needs."""
    few = [record for record in records if type(record) in (r.Epoch, r.Start, r.Resumed)]
    return few if sum(type(record) is r.Epoch for record in few) > 1 else list(records)
