"""Where each rank's time goes, step by step: how a run has changed, or what it is like now."""

import numpy as np
from matplotlib.patches import Patch

from ..records import Ledger
from .axes import axes_or_new, dress, names, remark
from .columns import behind, table
from .given import records_of
from .key import key
from .palette import COMMUNICATION, OWN, PAPER, PHASES
from .story import NOW, Story

MOST = 16  # ranks that are shown
WINDOWS = 120  # points a rank; of more, neighbours are taken together
PARTS = (*OWN, *COMMUNICATION)
FEW = 8  # ranks up to which their names are large
ALMOST = 0.9  # of the height of a rank's row


def time_by_rank(records, ax=None):
    """Draw a row for each rank: of its time, the share of each phase (from below: its own work, then communication) over steps.

    Parameters
    ----------
    records : list of records, or Run
        Only each rank's Ledger records count.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.

    Returns
    -------
    matplotlib Axes
        `columns` gives the shares behind it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from dtnn.plots import columns
    >>> told = [Ledger(0, n, 1, 32, 4000, 0.1, 0.2, 0.3, 0.1, 0.2, 0.1, 1.0, 0.0) for n in (1, 2)]
    >>> behind_it = columns(time_by_rank(told, ax=Figure().add_subplot()))
    >>> [round(share, 3) for share, phase in zip(behind_it["share"], behind_it["phase"]) if phase == "backward"]
    [0.3, 0.3]
    """
    records = records_of(records)
    told = {}
    for record in records:
        if type(record) is Ledger and record.steps:
            told.setdefault(record.rank, []).append(record)
    story = Story([record for record in records if type(record) is not Ledger])
    ax = dress(axes_or_new(ax), "Where each rank's time goes, from the run's begin to now", "", "")
    ax.set_xlabel("epoch" if story.steps_per_epoch else "step")
    ranks = sorted(told)[:MOST]
    lines = {rank: _shares(told[rank], story) for rank in ranks}
    for row, (x, shares) in enumerate(lines.values()):
        _draw(ax, row, x, shares)
    behind(ax, lambda: _columns(lines))
    _frame(ax, lines, len(told))
    return ax


def recent(records, seconds=NOW):
    """Of a run's records what tells of now: each rank's ledgers of its last seconds, and all other records.

    `breakdown` of these shows where the time goes now, instead of since the begin.

    Examples
    --------
    >>> told = [Ledger(0, n, 1, 32, 4000, 0.1, 0.2, 0.3, 0.1, 0.2, 0.1, 1.0, time=float(n)) for n in range(10)]
    >>> [ledger.step for ledger in recent(told)]
    [7, 8, 9]
    """
    records = records_of(records)
    newest = {record.rank: record.time for record in records if type(record) is Ledger and record.steps}
    return [r for r in records if type(r) is not Ledger or r.time >= newest.get(r.rank, r.time) - seconds]


def _shares(ledgers, story):
    """Where a rank's points lie, and the share of each phase: (phases, points)."""
    told = np.array([[getattr(ledger, phase, 0.0) for phase in PARTS if phase != "other"] for ledger in ledgers], float).T
    whole = np.array([ledger.seconds for ledger in ledgers], float)
    told = np.insert(told, PARTS.index("other"), np.maximum(whole - told.sum(0), 0), axis=0)
    ends = np.linspace(0, len(ledgers), min(WINDOWS, len(ledgers)) + 1).round().astype(int)
    sums = np.add.reduceat(told, ends[:-1], axis=1)
    steps = np.array([ledgers[0].step - ledgers[0].steps, *(ledgers[end - 1].step for end in ends[1:])], float)
    return np.asarray(story.epoch_of(steps), float), sums / np.maximum(sums.sum(0), 1e-12)


def _draw(ax, row, x, shares):
    edges = np.concatenate([np.zeros((1, shares.shape[1])), shares.cumsum(0)]) * ALMOST
    edges = row + 1 - (1 - ALMOST) / 2 - edges  # rows go down, what a rank does itself is below
    for phase, below, above in zip(PARTS, edges, edges[1:]):
        ax.stairs(above, x, baseline=below, fill=True, facecolor=PHASES[phase], edgecolor=PAPER, linewidth=0)


def _frame(ax, lines, ranks):
    if not lines:
        remark(ax).set_text("after the first steps")
        return
    names(
        ax.yaxis,
        [row + 0.5 for row in range(len(lines))],
        [f"rank {rank}" for rank in lines],
        "medium" if len(lines) <= FEW else "small",
    )
    ax.set_ylim(len(lines), 0)
    ax.set_xlim(min(x[0] for x, _ in lines.values()), max(x[-1] for x, _ in lines.values()))
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False)
    shares = np.array([shares.mean(1) for _, shares in lines.values()]).max(0)
    there = [phase for phase, share in zip(PARTS, shares) if share > 0.005][::-1]
    handles = [Patch(facecolor=PHASES[phase]) for phase in there]
    key(ax, handles, there, title=f"{MOST} of {ranks} ranks" if ranks > MOST else "", handle=1.0)


def _columns(lines):
    """One value for each rank, window and phase; "x" is where the window ends."""
    found = [
        (rank, x, phase, share)
        for rank, (ends, shares) in lines.items()
        for phase, row in zip(PARTS, shares)
        for x, share in zip(ends[1:], row)
    ]
    return table(("rank", "x", "phase", "share"), found)
