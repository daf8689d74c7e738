"""Which sample goes to which rank in each epoch, and what each rank gets of each class."""

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from .axes import axes_or_new, dress, names
from .boxes import boxes
from .columns import behind, cells
from .key import key
from .messages import colours
from .palette import PAPER, STATES

NOBODY, TWICE = -1, -2  # in place of a rank: a sample that nobody, or more than one rank, has
BELOW = 0.42  # inches from the Axes to the ranks' colours
COLUMNS = 8
WIDE = 400  # columns at most; of larger sets so many samples, evenly apart, are shown


def shards(owners, ax=None, ranks=None, first=1):
    """Draw a row for each epoch and a column for each sample, in the colour of the rank that trains on it.

    Parameters
    ----------
    owners : array (epochs, N) of int
        Ranks; `NOBODY` (-1) and `TWICE` (-2) are red: a sample that is left out, or used more than once.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    ranks : int, optional
        How many there are.
    first : int
        The epoch of the first row.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = shards([[0, 1, 1, 0], [1, -1, 0, 0]], ax=Figure().add_subplot())
    >>> ax.get_title(loc="left")
    'Which rank has which sample: 1 of 8 is missing'
    """
    owners = np.atleast_2d(owners)
    count = int(ranks or owners.max() + 1)
    paint = np.array([to_rgb(colour) for colour in (*colours(count), STATES["failed"])])
    shown = np.linspace(0, owners.shape[1] - 1, min(WIDE, owners.shape[1])).round().astype(int)
    ax = dress(axes_or_new(ax, (6.4, 2.4)), _title(owners), "sample", "epoch", None)
    epochs = range(first, first + len(owners))
    behind(ax, lambda: cells(("epoch", "sample", "rank"), owners, epochs))
    painted = paint[np.where(owners[:, shown] < 0, count, owners[:, shown])]
    ax.imshow(painted, aspect="auto", interpolation="nearest", extent=(0, owners.shape[1], len(owners) + 0.5, 0.5))
    ax.hlines(np.arange(1.5, len(owners)), 0, owners.shape[1], color=PAPER, linewidth=2)
    names(ax.yaxis, range(1, len(owners) + 1), map(str, epochs))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    handles = [Patch(color=colour) for colour in colours(count)]
    key(ax, handles, [f"rank {rank}" for rank in range(count)], at=(0.0, 0.0), columns=COLUMNS, handle=1.0, below=BELOW)
    return ax


def class_balance(owners, labels, ax=None, ranks=None):
    """Draw for each rank how many samples of each class it has in an epoch.

    Parameters
    ----------
    owners, labels : array (N,) of int
        Rank and class of each sample.
    ax : matplotlib Axes, optional
    ranks : int, optional

    Returns
    -------
    matplotlib Axes
        Groups of bars, one group a class, one bar a rank; a collection holds those of a rank.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = class_balance([0, 0, 1, 1], [0, 1, 1, 1], ax=Figure().add_subplot())
    >>> [[int(bar.get_extents().height) for bar in bars.get_paths()] for bars in ax.collections]
    [[1, 1], [0, 2]]
    """
    owners, labels = np.asarray(owners), np.asarray(labels)
    count, classes = int(ranks or owners.max() + 1), int(labels.max()) + 1
    ax = dress(axes_or_new(ax, (6.4, 2.4)), "Samples of each class, by rank", "class", "")
    width, known = 0.8 / count, owners >= 0
    table = np.bincount(owners[known] * classes + labels[known], minlength=count * classes).reshape(-1, classes)
    behind(ax, lambda: cells(("rank", "class", "samples"), table))
    for rank, colour in enumerate(colours(count)):
        heights = table[rank]
        lefts = np.arange(classes) + (rank - count / 2) * width
        boxes(ax, np.stack([lefts, np.zeros(classes), np.full(classes, width), heights], axis=1), facecolors=colour, linewidths=0)
    names(ax.xaxis, range(classes), map(str, range(classes)))
    ax.set(xlim=(-0.6, classes - 0.4), ylim=(0, 1.05 * max(1, table.max())))
    return ax


def _title(owners):
    """What is wrong, if anything is."""
    missing, twice = int((owners == NOBODY).sum()), int((owners == TWICE).sum())
    told = [f"{number} of {owners.size} {word}" for number, word in ((missing, "is missing"), (twice, "is used twice")) if number]
    return "Which rank has which sample: " + (", ".join(told) or "each once an epoch")
