"""What differs between the ranks of a run, as it goes on: a line for each of them."""

import numpy as np
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ..records import Epoch, Ledger, Place, Share
from .axes import axes_or_new, dress, remark
from .given import records_of
from .headline import is_share
from .key import key
from .limits import DECADE, few_ticks
from .messages import colours
from .palette import INK
from .smooth import smoothed, smoothing_of
from .story import Story

MOST = 16  # ranks that can be told apart
WINDOWS = 200  # points a rank; of more, neighbours are taken together
TITLES = {
    "loss": ("Loss of each rank's own samples", ""),
    "work": ("Each rank's own work", "ms a step"),
    "wait": ("How long each rank waits for the others", "ms a step"),
    "samples/s": ("Samples a second of each rank's own work", ""),
    "memory": ("Memory of each rank's process", "MB"),
}


def by_rank(records, ax=None, what="loss", smoothing=0.0):
    """Draw a line for each rank against epochs.

    Parameters
    ----------
    records : list of records, or Run
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    what : {"loss", "work", "wait", "samples/s", "memory"} or str
        The mean loss over the rank's own samples, each before its update; milliseconds a step of its own work, or of waiting;
        samples in a second of its own work; megabytes that its process has in memory. Or a metric of the epochs, "accuracy",
        "val_loss" ...: that of the rank's own share of the samples.
    smoothing : float
        Over which share of its points the running mean of each line is taken, below 1; the numbers are faint behind it.

    Returns
    -------
    matplotlib Axes
        Its lines are labelled "rank 0" ...; a point is the mean over some steps, or the metric of an epoch, for which there is
        also a line of "all ranks". Means have no label.

    Raises
    ------
    ValueError
        No rank has told that.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> told = [Ledger(r, 10, 10, 320, 0, 0, 0.1, 0.2 + r / 10, 0.1 - r / 10, 0, 0, 0.4, 0.0, loss=2.0 + r) for r in (0, 1)]
    >>> ax = by_rank(told, ax=Figure().add_subplot(), what="work")
    >>> [(line.get_label(), line.get_ydata().round(6).tolist()) for line in ax.lines]
    [('rank 0', [30.0]), ('rank 1', [40.0])]
    """
    records, smoothing = records_of(records), smoothing_of(smoothing)
    if what not in TITLES:
        return _of_epochs(records, ax, what, smoothing)
    ledgers = [record for record in records if type(record) is Ledger and record.steps and _counts(record, what)]
    story = Story([record for record in records if type(record) is not Ledger])
    title, unit = TITLES[what]
    if what == "memory" and _one_process(records):
        title = "Memory of the one process in which all ranks are threads"
    ax = dress(axes_or_new(ax), title, "epoch" if story.steps_per_epoch else "step", unit)
    told = {}
    for ledger in ledgers:
        told.setdefault(ledger.rank, []).append(ledger)
    lines = {rank: _line(told[rank], what, story) for rank in sorted(told)[:MOST]}
    lines = {rank: (x, y) for rank, (x, y) in lines.items() if np.isfinite(y).any()}
    shown = [_draw(ax, rank, *line, colour, smoothing) for (rank, line), colour in zip(lines.items(), colours(MOST))]
    _frame(ax, what, len(told), shown)
    return ax


def _draw(ax, rank, x, y, colour, smoothing):
    """The line of a rank; returns the one for the legend, and its label."""
    look = {"color": colour, "linewidth": 1.3, "marker": "o" if len(x) < 20 else "", "markersize": 4, "label": f"rank {rank}"}
    return smoothed(ax, x, y, smoothing, **look), look["label"]


def _counts(ledger, what):
    """A server has no samples, but memory."""
    return ledger.memory if what == "memory" else ledger.samples


def _one_process(records):
    """Whether several ranks are in one process."""
    places = [(place.machine.get("host"), place.machine.get("pid")) for place in records if type(place) is Place]
    return len(places) > 1 and len(set(places)) == 1


def _of_epochs(records, ax, what, smoothing):
    """A line for each rank's metric of its own share, and one for that of all."""
    shares = [record for record in records if type(record) is Share]
    told = list(dict.fromkeys(name for share in shares for name in share.metrics if name not in TITLES))
    if what not in told and (told or what.removeprefix("val_") not in ("accuracy", "loss")):
        raise ValueError(f"what={what!r} is not known; choose {', '.join(map(repr, [*TITLES, *told]))}")
    ax = dress(axes_or_new(ax), f"{what.replace('val_', 'validation ').capitalize()} of each rank's own samples", "epoch")
    ranks, shown = sorted({share.rank for share in shares}), []
    for rank, colour in zip(ranks, colours(MOST)):
        mine = [(share.epoch, share.metrics[what]) for share in shares if share.rank == rank and what in share.metrics]
        x, y = np.array(mine, float).reshape(-1, 2).T
        if np.isfinite(y).any():
            shown.append(_draw(ax, rank, x, y, colour, smoothing))
    whole = [(e.epoch, e.metrics[what]) for e in records if type(e) is Epoch and e.samples and e.metrics.get(what) is not None]
    if ax.lines and whole:
        look = {"color": INK, "linewidth": 1.6, "linestyle": "--", "label": "all ranks"}
        shown.append((smoothed(ax, *zip(*whole), smoothing, **look), look["label"]))
    _frame(ax, what, len(ranks), shown)
    return ax


def _line(ledgers, what, story):
    """Where a rank's points lie, and their values."""
    told = np.array([columns_of(ledger) for ledger in ledgers], float).T
    ends = np.linspace(0, len(ledgers), min(WINDOWS, len(ledgers)) + 1).round().astype(int)
    samples, steps, wait, communication, seconds, loss, memory = np.add.reduceat(told[1:], ends[:-1], axis=1)
    work = seconds - communication
    values = {
        "loss": lambda: loss / samples,
        "wait": lambda: 1e3 * wait / steps,
        "work": lambda: 1e3 * work / steps,
        "samples/s": lambda: samples / np.maximum(work, 1e-9),
        "memory": lambda: memory / np.diff(ends) / 1e6,
    }
    return np.asarray(story.epoch_of(told[0, ends[1:] - 1])), values[what]()


def columns_of(ledger):
    """The numbers of a record that are added up."""
    communication = ledger.pack + ledger.wait + ledger.transfer
    loss = ledger.loss * ledger.samples
    return ledger.step, ledger.samples, ledger.steps, ledger.wait, communication, ledger.seconds, loss, ledger.memory


def _frame(ax, what, ranks, shown):
    if not ax.lines:
        remark(ax).set_text(f"no rank has told its {what} yet")
        return
    ax.autoscale_view()
    values = np.concatenate([np.asarray(line.get_ydata(), float) for line in ax.lines])
    values = values[np.isfinite(values)]
    loss = what.endswith("loss")
    if loss and values.min() > 0 and values.max() > DECADE * values.min():
        ax.set_yscale("log")
        few_ticks(ax)
    elif is_share(what):
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.set_ylim(max(0.0, np.floor(values.min() * 10 - 0.2) / 10), 1.01)
    elif what in TITLES and not loss:
        ax.set_ylim(0, 1.05 * values.max() or 1.0)
    ax.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=what not in TITLES))
    key(ax, *zip(*shown), title=f"{MOST} of {ranks} ranks" if ranks > MOST else "")
