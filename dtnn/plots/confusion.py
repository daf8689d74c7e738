"""Which class is taken for which, as a matrix of colours."""

import matplotlib
import numpy as np
from matplotlib.colors import to_hex

from .axes import axes_or_new, dress, names, slanted
from .columns import behind, cells
from .letters import letters
from .palette import on

MOST_NUMBERS = 14  # classes up to which each count is written into its square
MOST_NAMES = 20
IN_A_ROW = 56  # letters that have room side by side


def confusion(counts, classes=None, ax=None):
    """Draw a confusion matrix: rows are the labels, columns what the samples were taken for.

    Parameters
    ----------
    counts : array (K, K)
        Samples of each label taken for each class.
    classes : sequence of str, optional
        Their names; numbers without it.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.

    Returns
    -------
    matplotlib Axes
        Its image holds the share of each label's samples; a label without samples has a white row.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = confusion([[3, 1], [0, 4]], ["cat", "dog"], ax=Figure().add_subplot())
    >>> ax.images[0].get_array().tolist(), [text.get_text() for text in ax.texts]
    ([[0.75, 0.25], [0.0, 1.0]], ['3', '1', '4'])
    """
    counts = np.asarray(counts)
    known = [str(name) for name in classes] if classes is not None else [str(k) for k in range(len(counts))]
    whole = counts.sum()
    right = f"\n{np.trace(counts) / whole:.1%} of {int(whole):,} right" if whole else ""
    ax = dress(axes_or_new(ax, (5.0, 4.8)), f"Which class is taken for which{right}", "taken for", "is", grid="")
    behind(ax, lambda: cells(("is", "taken for", "samples"), counts, known, known))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    paint = matplotlib.colormaps["Blues"]
    ax.imshow(shares, vmin=0, vmax=1, cmap=paint, aspect="equal")
    if len(counts) <= MOST_NUMBERS:
        there = [(int(row), int(column)) for row, column in np.argwhere(counts)]
        words = [f"{int(counts[place]):,}" for place in there]
        inks = [on(to_hex(paint(shares[place]))) for place in there]
        wide = len(counts) * len(max(words, key=len, default=""))
        letters(ax, [place[::-1] for place in there], words, inks, "small" if wide < IN_A_ROW else "x-small")
    ticks = range(0, len(counts), -(-len(counts) // MOST_NAMES) or 1)
    for axis in ax.xaxis, ax.yaxis:
        names(axis, ticks, [known[k] for k in ticks], "small")
    if max(map(len, known), default=0) > 3:
        slanted(ax)
    return ax
