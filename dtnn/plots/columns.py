"""`columns`: the numbers behind a picture."""

import numpy as np
from matplotlib.figure import Figure

from ..allowed import shown

NAME = "dtnn_behind"  # of the attribute of an Axes


def behind(ax, tell):
    """Say what `columns` is to answer for this Axes: ``tell()`` gives columns of equal length."""
    setattr(ax, NAME, tell)
    return ax


def columns(drawn):
    """The numbers behind a picture as columns of equal length, such as ``pandas.DataFrame`` takes.

    Parameters
    ----------
    drawn : matplotlib Axes, matplotlib Figure or Timeline
        What a function of `dtnn.plots` returned.

    Returns
    -------
    dict of str to list
        Of curves "series" (a line's label), "x" and "y"; of other pictures what they show, such as "rank", "phase" and "seconds";
        of a Figure those of all its Axes one below the other, with the title of each in "axes" and None where it has no such
        column.

    Raises
    ------
    TypeError
        It is no picture.

    Examples
    --------
    >>> from dtnn.plots import curves
    >>> from dtnn.records import Epoch
    >>> told = [Epoch(1, 10, 640, 0.5, 0.1, {"loss": 2.0}, 0.0), Epoch(2, 20, 640, 0.5, 0.1, {"loss": 1.0}, 1.0)]
    >>> columns(curves(told, ax=Figure().add_subplot()))
    {'series': ['training', 'training'], 'x': [1, 2], 'y': [2.0, 1.0]}
    """
    if isinstance(drawn, Figure):
        return _stacked({ax: columns(ax) for ax in drawn.axes})
    if hasattr(drawn, NAME):
        return getattr(drawn, NAME)()
    if callable(getattr(drawn, "columns", None)):  # a Timeline
        return drawn.columns()
    if not hasattr(drawn, "get_lines"):
        raise TypeError(f"columns of {shown(drawn)}: give the Axes or the Figure that a function of dtnn.plots returned")
    return _of_lines(drawn)


def table(names, rows):
    """Rows of numbers as columns.

    >>> table(("rank", "seconds"), [(0, 1.5), (1, 2.0)])
    {'rank': [0, 1], 'seconds': [1.5, 2.0]}
    """
    rows = [tuple(_plain(value) for value in row) for row in rows]
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def cells(names, array, *labels):
    """An array as columns: a row for each number, before it its place on each axis (by that axis' labels, if there are any).

    >>> cells(("rank", "other", "cosine"), np.array([[1.0, 0.5]]), ["a"])
    {'rank': ['a', 'a'], 'other': [0, 1], 'cosine': [1.0, 0.5]}
    """
    labels = [*labels, *[None] * (np.ndim(array) - len(labels))]
    rows = [
        (*(place if known is None else known[place] for place, known in zip(where, labels)), value)
        for where, value in np.ndenumerate(array)
    ]
    return table(names, rows)


def _of_lines(ax):
    """The lines that have a label."""
    labelled = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    rows = [(line.get_label(), x, y) for line in labelled for x, y in zip(line.get_xdata(), line.get_ydata())]
    return table(("series", "x", "y"), rows)


def _stacked(told):
    """Columns of several Axes, one below the other."""
    names = dict.fromkeys(name for part in told.values() for name in part)
    whole = {"axes": [], **{name: [] for name in names}}
    for ax, part in told.items():
        count = len(next(iter(part.values()), ()))
        whole["axes"] += [ax.get_title(loc="left") or ax.get_title()] * count
        for name in names:
            whole[name] += part.get(name, [None] * count)
    return whole


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value
