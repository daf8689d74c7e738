"""The axes of a figure in a few strokes: matplotlib makes five artists for each tick, which is half of the time of a picture."""

import contextlib

from matplotlib.axes import Axes

from .ruler import Ruler

UNUSUAL = "top", "right", "labeltop", "labelright", "direction", "labelfontfamily"


@contextlib.contextmanager
def rulers(figure):
    """While this context lasts, the axes of a figure measure and draw themselves by rulers.

    Those that are no usual ones stay as they are: ticks at the top or right, or ticks that somebody has taken in hand.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> ax = figure.add_subplot()
    >>> with rulers(figure):
    ...     figure.draw_without_rendering()
    >>> made = len(ax.xaxis.majorTicks)
    >>> figure.draw_without_rendering()
    >>> made, len(ax.xaxis.majorTicks)
    (1, 6)
    """
    every = [each for ax in figure.axes for each in (ax, *ax.child_axes) if type(each) is Axes]
    taken = [axis for ax in every for axis in (ax.xaxis, ax.yaxis) if _usual(axis)]
    edges = [spine for ax in every for spine in ax.spines.values() if spine.axis in taken and spine.get_in_layout()]
    for axis in taken:
        ruler = Ruler(axis)
        axis.draw, axis.get_tightbbox = ruler.draw, ruler.get_tightbbox
    for spine in edges:
        spine.set_in_layout(False)  # its size would be sought among the ticks; the ruler tells it
    try:
        yield
    finally:
        for axis in taken:
            del axis.draw, axis.get_tightbbox
        for spine in edges:
            spine.set_in_layout(True)


def _usual(axis):
    """Whether an axis has its words at the left or below, and no ticks yet that might have been changed one by one."""
    looks = [axis.get_tick_params(which) for which in ("major", "minor")]
    by_hand = any(len(vars(axis).get(name, ())) > 1 for name in ("majorTicks", "minorTicks"))
    other = by_hand or not getattr(axis, "_autolabelpos", True) or any(look.get(name) for look in looks for name in UNUSUAL)
    return axis.get_label_position() in ("bottom", "left") and not other
