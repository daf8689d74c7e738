"""What differs between the ranks of a run, as it goes on: a line for each of them."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..records import Ledger
from .axes import axes_or_new, dress, remark
from .curves import DECADE, few_ticks
from .messages import colours
from .story import Story

MOST = 16  # ranks that can be told apart
WINDOWS = 200  # points a rank; of more, neighbours are taken together
TITLES = {
    "loss": ("Loss of each rank's own samples", ""),
    "work": ("Each rank's own work", "ms a step"),
    "wait": ("How long each rank waits for the others", "ms a step"),
    "samples/s": ("Samples a second of each rank's own work", ""),
}


def by_rank(records, ax=None, what="loss"):
    """Draw a line for each rank against epochs.

    Parameters
    ----------
    records : list of records
        A run's.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    what : {"loss", "work", "wait", "samples/s"}
        The mean loss over the rank's own samples, each before its update; milliseconds a step of its own work, or of waiting;
        samples in a second of its own work.

    Returns
    -------
    matplotlib Axes
        Its lines are labelled "rank 0" ...; a point is the mean over some steps.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> told = [Ledger(r, 10, 10, 320, 0, 0, 0.1, 0.2 + r / 10, 0.1 - r / 10, 0, 0, 0.4, 0.0, loss=2.0 + r) for r in (0, 1)]
    >>> ax = by_rank(told, ax=Figure().add_subplot(), what="work")
    >>> [(line.get_label(), line.get_ydata().round(6).tolist()) for line in ax.lines]
    [('rank 0', [30.0]), ('rank 1', [40.0])]
    """
    if what not in TITLES:
        raise ValueError(f"what={what!r} is not known; choose {', '.join(map(repr, TITLES))}")
    ledgers = [record for record in records if type(record) is Ledger and record.steps and record.samples]
    story = Story([record for record in records if type(record) is not Ledger])
    title, unit = TITLES[what]
    ax = dress(axes_or_new(ax), title, "epoch" if story.steps_per_epoch else "step", unit)
    told = {}
    for ledger in ledgers:
        told.setdefault(ledger.rank, []).append(ledger)
    lines = {rank: _line(told[rank], what, story) for rank in sorted(told)[:MOST]}
    lines = {rank: (x, y) for rank, (x, y) in lines.items() if np.isfinite(y).any()}
    for (rank, (x, y)), colour in zip(lines.items(), colours(MOST)):
        ax.plot(x, y, color=colour, linewidth=1.3, marker="o" if len(x) < 20 else "", markersize=4, label=f"rank {rank}")
    _frame(ax, what, len(told))
    return ax


def _line(ledgers, what, story):
    """Where a rank's points lie, and their values."""
    told = np.array([columns_of(ledger) for ledger in ledgers], float).T
    ends = np.linspace(0, len(ledgers), min(WINDOWS, len(ledgers)) + 1).round().astype(int)
    samples, steps, wait, communication, seconds, loss = np.add.reduceat(told[1:], ends[:-1], axis=1)
    work = seconds - communication
    values = {
        "loss": lambda: loss / samples,
        "wait": lambda: 1e3 * wait / steps,
        "work": lambda: 1e3 * work / steps,
        "samples/s": lambda: samples / np.maximum(work, 1e-9),
    }
    return np.asarray(story.epoch_of(told[0, ends[1:] - 1])), values[what]()


def columns_of(ledger):
    """The numbers of a record that are added up."""
    communication = ledger.pack + ledger.wait + ledger.transfer
    return ledger.step, ledger.samples, ledger.steps, ledger.wait, communication, ledger.seconds, ledger.loss * ledger.samples


def _frame(ax, what, ranks):
    if not ax.lines:
        remark(ax).set_text(f"no rank has told its {what} yet")
        return
    values = np.concatenate([np.asarray(line.get_ydata(), float) for line in ax.lines])
    values = values[np.isfinite(values)]
    if what == "loss" and values.min() > 0 and values.max() > DECADE * values.min():
        ax.set_yscale("log")
        few_ticks(ax)
    elif what != "loss":
        ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))
    title = f"{MOST} of {ranks} ranks" if ranks > MOST else None
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), title=title)
