"""How large the gradient was, step by step."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..records import Gradients, Ledger, Step
from .axes import axes_or_new, dress, remark
from .given import records_of
from .key import key
from .limits import DECADE, few_ticks
from .messages import colours
from .palette import STEPS, TRAINING
from .smooth import SMOOTHING, smooth, smoothing_of
from .story import Story

POINTS = 1000  # of a line; of more steps, neighbours are taken together
MOST = 16  # ranks that can be told apart


def gradient_curve(records, ax=None, smoothing=SMOOTHING):
    """Draw the 2-norm of the whole gradient against epochs; of steps that were looked at, also that of each rank's own.

    Parameters
    ----------
    records : list of records, or Run
        `Gradients` are among them where somebody asked (``run.gradients()``), or with ``keep_gradients_every``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    smoothing : float
        Over which share of the points the running mean is taken, below 1; 0 draws none.

    Returns
    -------
    matplotlib Axes
        Its lines are labelled "steps" and "running mean", then "rank 0" ...: points, each the norm of the mean gradient over that
        rank's samples of the step, which is the larger the noisier, the fewer these are.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> told = [Step(n, 1, 2.0, 64, 0.1, 0.1, 0.0, gradient=1.0 / n) for n in (1, 2)]
    >>> ax = gradient_curve(told, ax=Figure().add_subplot())
    >>> ax.lines[0].get_label(), ax.lines[0].get_ydata().tolist()
    ('steps', [1.0, 0.5])
    """
    records = records_of(records)
    story = Story([record for record in records if type(record) is not Ledger])
    ax = dress(axes_or_new(ax), "2-norm of the gradient", "epoch" if story.steps_per_epoch else "step")
    steps = [(r.step, r.gradient) for r in records if type(r) is Step and np.isfinite(r.gradient)]
    if steps:
        x, y = _few(np.array(steps, float))
        x = np.asarray(story.epoch_of(x))
        ax.plot(x, y, color=STEPS, linewidth=0.9, label="steps")
        smoothed = smooth(y, smoothing_of(smoothing))
        if np.isfinite(smoothed).any():
            ax.plot(x, smoothed, color=TRAINING, linewidth=1.6, label="running mean")
    looks = [record for record in records if type(record) is Gradients]
    for rank, colour in zip(range(len(looks[0].samples) if looks else 0), colours(MOST)):
        own = [(look.step, _own(look, rank)) for look in looks if look.samples[rank]]
        if own:
            x, y = np.array(own, float).T
            ax.plot(np.asarray(story.epoch_of(x)), y, "o", color=colour, markersize=4, label=f"rank {rank}")
    if looks:
        ax.set_title("2-norm of the gradient; dots: of each rank's own samples", loc="left", fontsize="medium", fontweight="bold")
    _frame(ax)
    return ax


def _own(look, rank):
    """The norm of the mean gradient over a rank's own samples, of all layers together."""
    whole = np.sqrt(sum(layer[rank] ** 2 for layer in look.before))
    return whole * sum(look.samples) / look.samples[rank]


def _few(pairs):
    """x and y of at most so many points."""
    ends = np.linspace(0, len(pairs), min(POINTS, len(pairs)) + 1).round().astype(int)
    means = np.add.reduceat(pairs, ends[:-1], axis=0) / np.diff(ends)[:, None]
    return pairs[ends[1:] - 1, 0], means[:, 1]


def _frame(ax):
    if not ax.lines:
        remark(ax).set_text("no step has told the norm of its gradient:\nnone yet, or no rank holds the whole of it")
        return
    values = np.concatenate([np.asarray(line.get_ydata(), float) for line in ax.lines])
    values = values[np.isfinite(values) & (values > 0)]
    if len(values) and values.max() > DECADE * values.min():
        ax.set_yscale("log")
        few_ticks(ax)
    else:
        ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))
    key(ax, *ax.get_legend_handles_labels())
