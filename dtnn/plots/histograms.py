"""How the numbers of each layer are distributed, one below the other."""

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D

from .axes import axes_or_new, dress, names
from .columns import behind, table
from .palette import FAINT, STATES, STEPS, TRAINING

MOST_ROWS = 24  # layers that can be read
BINS = 60
ENOUGH = 20_000  # numbers that tell where the ends are
TAIL = 0.001  # so many of the numbers at each end are outside of the picture


def histograms(arrays, ax=None, title="", x="value"):
    """Draw a histogram of each array, the first at the top, all on one axis.

    Parameters
    ----------
    arrays : dict of str to array
        Of each layer its numbers, of any shape.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    title, x : str

    Returns
    -------
    matplotlib Axes
        A line for each array, labelled with its name; at the right its mean and standard deviation, and how many are exactly
        zero or not finite, where there are such.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = histograms({"a": np.linspace(-1, 1, 99), "b": [0.0, 0.0, 1.0]}, ax=Figure().add_subplot())
    >>> [line.get_label() for line in ax.lines], [text.get_text() for text in ax.texts]
    (['a', 'b'], ['0 ± 0.58', '0.33 ± 0.47 · 67 % zero'])
    """
    ax = dress(axes_or_new(ax), title, x, "", grid="x")
    shown = dict(list(arrays.items())[:MOST_ROWS])
    flat = {name: _floats(array) for name, array in shown.items()}
    finite = {name: _finite(array) for name, array in flat.items()}
    edges = np.linspace(*_limits(finite.values()), BINS + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    areas, counted = [], {}
    for row, (name, numbers) in enumerate(finite.items()):
        heights = counted[name] = _counts(numbers, edges[0], edges[-1])
        heights = row + 0.35 - 0.8 * heights / max(1, heights.max())  # the axis points downwards
        areas.append(np.stack([np.repeat(edges, 2), [row + 0.35, *np.repeat(heights, 2), row + 0.35]], axis=1))
        ax.add_line(Line2D(middles, heights, color=TRAINING, linewidth=1.0, drawstyle="steps-mid", label=name))
        words, wrong = _words(flat[name], numbers)
        colour = STATES["failed"] if wrong else FAINT
        ax.text(1.01, row + 0.2, words, transform=ax.get_yaxis_transform(), fontsize="small", color=colour, va="center")
    rows = [(name, *bin) for name, heights in counted.items() for bin in zip(edges[:-1], edges[1:], heights)]
    behind(ax, lambda: table(("name", "from", "to", "count"), rows))
    ax.add_collection(PolyCollection(areas, facecolors=STEPS, linewidths=0), autolim=False)
    names(ax.yaxis, range(len(shown)), shown, "small")
    ax.set(xlim=(edges[0], edges[-1]), ylim=(max(1, len(shown)) - 0.5, -0.6))
    if len(arrays) > len(shown):
        ax.set_xlabel(f"{x} (the first {len(shown)} of {len(arrays)} layers)")
    return ax


def _floats(array):
    """The numbers in a row; those of single precision, of which there may be millions, stay what they are."""
    array = np.asarray(array).reshape(-1)
    return array if array.dtype == np.float32 else array.astype(float)


def _finite(array):
    known = np.isfinite(array)
    return array if known.all() else array[known]


def _counts(numbers, low, high):
    """How many are in each of the bins; numpy's own histogram takes five times as long.

    >>> _counts(np.array([0.0, 0.5, 1.0, 2.0]), 0.0, 1.0)[[0, BINS // 2, -1]].tolist()
    [1, 1, 1]
    """
    places = ((numbers - low) * (BINS / (high - low)))[(numbers >= low) & (numbers <= high)]
    return np.bincount(np.minimum(places.astype(np.int64), BINS - 1), minlength=BINS)


def _limits(arrays):
    """From the lowest to the highest number, without a few."""
    ends = [np.quantile(array[:: 1 + len(array) // ENOUGH], (TAIL, 1 - TAIL)) for array in arrays if len(array)]
    low, high = (min(end[0] for end in ends), max(end[1] for end in ends)) if ends else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _words(all_numbers, finite):
    """What is written beside, and whether something is wrong."""
    lost = len(all_numbers) - len(finite)
    if lost:
        return f"{lost:,} of {len(all_numbers):,} not finite", True
    if not len(finite):
        return "nothing", False
    zero = np.mean(finite == 0)
    mean, spread = finite.mean(dtype=float), finite.std(dtype=float)
    mean = 0.0 if abs(mean) < 1e-3 * spread else mean
    return f"{mean:.2g} ± {spread:.2g}" + (f" · {100 * zero:.0f} % zero" if zero >= 0.005 else ""), False
