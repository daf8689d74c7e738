"""Loss or another metric against epochs."""

import math

import numpy as np
from matplotlib.ticker import MaxNLocator, PercentFormatter

from .axes import axes_or_new, dress, remark
from .headline import is_share
from .limits import DECADE, apart, decade_part, few_ticks, finite, rounded_up, unit
from .palette import STEPS, TRAINING, VALIDATION
from .smooth import BEHIND, SMOOTHING, smooth, smoothing_of
from .story import Story

MARKED = 40  # epochs up to which each one has its point
MANY = 20  # planned epochs up to which the axis shows them all from the beginning; beyond, it grows
TITLES = {"loss": "Loss", "accuracy": "Accuracy"}


def curves(records, ax=None, metric="loss", scale="auto", smoothing=SMOOTHING):
    """Draw a metric against epochs: steps faint behind, epochs' training and validation values as points.

    Parameters
    ----------
    records : list of records or Story
        A run's records.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    metric : str
        "loss", or a name in the epochs' metrics, such as "accuracy".  Steps tell only the loss.
    scale : {"auto", "linear", "log"}
        "auto" takes a logarithmic axis for a positive loss that changed by more than a factor of 10.
    smoothing : float
        Over which share of its points the running mean of each line is taken, below 1; 0 draws none. The numbers themselves
        stay, faint, behind a mean; a line of so few points that it would be one of less than two has none.

    Returns
    -------
    matplotlib Axes
        Its lines are labelled "steps", "training" and "validation"; their data are the numbers behind the picture. The means are
        lines without a label.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from dtnn.records import Epoch
    >>> told = [Epoch(1, 10, 640, 0.5, 0.1, {"loss": 2.0}, 0.0), Epoch(2, 20, 640, 0.5, 0.1, {"loss": 1.0}, 1.0)]
    >>> ax = curves(told, ax=Figure().add_subplot())
    >>> [line.get_ydata() for line in ax.lines if line.get_label() == "training"]
    [[2.0, 1.0]]
    """
    if scale not in ("auto", "linear", "log"):
        raise ValueError(f"scale={scale!r} is not known; choose 'auto', 'linear' or 'log'")
    curve = Curve(axes_or_new(ax), metric, scale, smoothing_of(smoothing))
    curve.show(records if isinstance(records, Story) else Story(records))
    return curve.ax


class Curve:
    """The lines of one metric on one Axes, drawn once and then only moved."""

    def __init__(self, ax, metric="loss", scale="auto", smoothing=SMOOTHING):
        self.smoothing = smoothing
        self.ax, self.metric, self.scale = dress(ax, TITLES.get(metric, metric), "epoch"), metric, scale
        self.steps = ax.plot([], [], color=STEPS, linewidth=0.9, label="steps")[0]
        self.smooth = ax.plot([], [], color=TRAINING, linewidth=1.0, alpha=0.55)[0]
        kinds = ("-", TRAINING), ("--", VALIDATION)
        self.means = [ax.plot([], [], line, color=colour, linewidth=1.8, visible=False)[0] for line, colour in kinds]
        self.training = ax.plot([], [], "o-", color=TRAINING, linewidth=1.8, markersize=5, label="training")[0]
        self.validation = ax.plot([], [], "s--", color=VALIDATION, linewidth=1.8, markersize=5, label="validation")[0]
        self.empty = remark(ax)
        self._frame = self.shown = None
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))

    @property
    def axes(self):
        """Its Axes, as all panels of a picture have some."""
        return (self.ax,)

    @property
    def moving(self):
        """What changes from picture to picture while the frame stays."""
        return [self.steps, self.smooth, self.training, self.validation, *self.means, self.empty]

    def show(self, story):
        """Move the lines to what the story tells; returns whether the frame (limits, legend) has changed."""
        per_epoch = story.steps_per_epoch
        x = story.epoch_of(np.asarray(story.steps.x)) if self.metric == "loss" else np.empty(0)
        y = np.asarray(story.steps.y) if self.metric == "loss" else np.empty(0)
        self.steps.set_data(x, y)
        self.smooth.set_data(x, smooth(y, self.smoothing))
        self.training.set_data(*story.column(self.metric))
        self.validation.set_data(*story.column(f"val_{self.metric}"))
        for line, mean, marker in ((self.training, self.means[0], "o"), (self.validation, self.means[1], "s")):
            self._show_mean(line, mean, marker)
        self.empty.set_text(self._nothing(story))
        self.shown = (
            story.steps.count if self.metric == "loss" else 0,
            len(story.epochs),
            story.epochs[-1:],
            self.empty.get_text(),
            self.smoothing,
        )
        return self._set_frame(story, per_epoch)

    def _show_mean(self, line, mean, marker):
        """The mean of an epochs' line, and that line faint behind it; or the line alone."""
        x, y = line.get_data()
        smoothed = smooth(y, self.smoothing)
        seen = bool(np.isfinite(smoothed).any())
        mean.set_data(x, smoothed)
        mean.set_visible(seen)
        line.set(alpha=BEHIND if seen else 1, linewidth=0.9 if seen else 1.8)
        line.set_marker(marker if len(x) <= MARKED and not seen else "")

    def _nothing(self, story):
        if any(len(line.get_xdata()) for line in (self.steps, self.training, self.validation)):
            return ""
        if story.epochs:
            return f"no {self.metric}\nin this run's epochs"
        unit = "step" if self.metric == "loss" else "epoch"
        return f"it ended\nbefore the first {unit}" if story.finish else f"first point:\nafter the first {unit}"

    def _set_frame(self, story, per_epoch):
        by_epoch = per_epoch or self.metric != "loss"
        lines = [line for line in (self.steps, self.training, self.validation) if len(line.get_xdata())]
        log, limits = self._heights(lines)
        frame = (
            "epoch" if by_epoch else "step",
            self._span(story, by_epoch),
            log,
            limits,
            tuple((line.get_label(), line.get_alpha()) for line in lines),
            _free_corner([finite(line.get_ydata())[-1:] for line in lines], log, limits),
        )
        if frame == self._frame:
            return False
        self._frame = frame
        label, span, log, limits, _, corner = frame
        self.ax.set_xlabel(label)
        self.ax.set_xlim(*span)
        self.ax.set_yscale("log" if log else "linear")
        self.ax.set_ylim(*limits)
        if log:
            few_ticks(self.ax)
        elif is_share(self.metric):
            self.ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        self._explain(lines, corner)
        return True

    def _explain(self, lines, corner):
        """A legend where it hides least, also of what comes until the frame changes again."""
        if lines:
            seen = {self.training: self.means[0], self.validation: self.means[1]}
            clear = [seen[line] if line in seen and seen[line].get_visible() else line for line in lines]
            ground = {"framealpha": 1, "facecolor": self.ax.get_facecolor(), "edgecolor": "none", "borderpad": 0.1}
            self.ax.legend(clear, [line.get_label() for line in lines], fontsize="small", loc=corner, **ground)

    def _span(self, story, by_epoch):
        if not by_epoch:
            return 0, rounded_up(max(10, story.steps.count))
        first = story.first.epoch - 1 if story.first else max(0, story.epochs[0].epoch - 1) if story.epochs else 0
        last = max(first + 1, story.progress, story.epochs[-1].epoch if story.epochs else 0)
        planned = story.settings.get("epochs") or 0
        done = math.ceil(round(last - first, 6))
        whole = done if story.finish else max(done, min(planned, max(MANY, rounded_up(done))))
        return first, first + 1.02 * whole

    def _heights(self, lines):
        """Whether the axis is logarithmic, and its limits: rounded outwards, so that they change rarely."""
        values = [finite(line.get_ydata()) for line in lines]
        values = [each for each in values if len(each)]
        if not values:
            return False, (0.0, 1.0)
        low, high = min(each.min() for each in values), max(each.max() for each in values)
        if is_share(self.metric):
            return False, (max(0.0, math.floor(low * 10 - 0.2) / 10), 1.01)
        log = self.scale == "log" or (self.scale == "auto" and low > 0 and high > DECADE * low)
        if log and low > 0:
            low = min(np.quantile(each, 0.02) for each in values)  # a few lucky steps must not squeeze all the others
            return True, apart(decade_part(low, math.floor), decade_part(high, math.ceil), 2.0 * high)
        step = unit(high - min(low, 0.0))
        return False, apart(min(0.0, math.floor(low / step) * step), math.ceil(high / step * 1.02) * step, high + step)


def _free_corner(newest, log, limits):
    """Where the lines don't go to, as a legend's place: they go on at the right, about where they are now.

    >>> _free_corner([[0.95], [0.9]], False, (0.5, 1.0)), _free_corner([[0.01]], True, (0.001, 10.0))
    ('lower right', 'upper right')
    """
    low, high = np.log(limits) if log else limits
    values = [value for each in newest for value in each if value > 0 or not log]
    if not values:
        return "best"
    heights = (np.log(values) if log else np.asarray(values)) - low
    halves = set((heights > (high - low) / 2).tolist())
    return "best" if len(halves) > 1 else "lower right" if halves == {True} else "upper right"
