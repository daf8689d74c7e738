"""Running means of what jumps about, with the numbers themselves faint behind them."""

import numpy as np
from matplotlib.lines import Line2D

SMOOTHING = 0.05  # share of the points, if nothing is said
BEHIND = 0.35  # opacity of the numbers behind their mean


def smooth(values, share=SMOOTHING):
    """A running mean over that share of the points, at the ends over fewer; NaN where they are too few, or one is not finite.

    >>> smooth([1.0, 3.0, 1.0, 3.0], 0.5).tolist()
    [1.0, 2.0, 2.0, 2.0]
    >>> smooth([1.0, float("nan"), 1.0, 3.0], 0.5).tolist()
    [1.0, nan, 1.0, 2.0]
    """
    values, width = np.asarray(values, float), int(len(values) * share)
    if width < 2:
        return np.full(len(values), np.nan)
    known, window = np.isfinite(values), np.ones(width)
    sums = np.convolve(np.where(known, values, 0.0), window, mode="same")
    counts = np.convolve(known.astype(float), window, mode="same")
    return np.where(known, sums / np.maximum(counts, 1), np.nan)


def smoothing_of(told):
    """The share that was told, if it is one.

    >>> smoothing_of(1.5)
    Traceback (most recent call last):
        ...
    ValueError: smoothing=1.5 is no share of the points; give a number from 0 (none) to below 1, such as 0.05
    """
    if isinstance(told, bool) or not isinstance(told, float | int) or not 0 <= told < 1:
        raise ValueError(f"smoothing={told!r} is no share of the points; give a number from 0 (none) to below 1, such as 0.05")
    return told


def smoothed(ax, x, y, smoothing, **look):
    """Draw a line, and if it is long enough its running mean over it; the Axes' limits stay until ``ax.autoscale_view()``.

    Parameters
    ----------
    ax : matplotlib Axes
    x, y : array
    smoothing : float
        Share of the points.
    **look
        As for `Line2D`.

    Returns
    -------
    Line2D
        The one to be seen well: the mean, which has no label, or else the line itself.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> mean = smoothed(ax, range(4), [1, 3, 1, 3], 0.5, label="run")
    >>> [line.get_label() for line in ax.lines], [line.get_ydata()[1].item() for line in ax.lines]
    (['run', '_mean of run'], [3, 2.0])
    """
    x, y, mean = np.asarray(x), np.asarray(y), smooth(y, smoothing)
    if not np.isfinite(mean).any():
        return ax.add_line(Line2D(x, y, **look))
    ax.add_line(Line2D(x, y, **{**look, "alpha": BEHIND, "linewidth": 0.8, "marker": ""}))
    return ax.add_line(Line2D(x, mean, **{**look, "label": f"_mean of {look.get('label', '')}", "marker": ""}))
