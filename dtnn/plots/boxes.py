"""Many rectangles as one artist."""

import numpy as np
from matplotlib.collections import PolyCollection


def boxes(ax, places, **look):
    """Draw rectangles, all at once: an artist for each would take a hundred times as long.

    Parameters
    ----------
    ax : matplotlib Axes
    places : sequence of (left, bottom, width, height)
        In the Axes' data; the limits of the Axes stay as they are.
    **look
        Of the PolyCollection, such as `facecolors`, one for all or one for each.

    Returns
    -------
    PolyCollection

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> found = boxes(Figure().add_subplot(), [(0, 0, 2, 1), (2, 0, 1, 1)], facecolors="red")
    >>> found.get_paths()[1].get_extents().get_points().tolist()
    [[2.0, 0.0], [3.0, 1.0]]
    """
    left, bottom, width, height = np.reshape(np.asarray(places, float), (-1, 4)).T
    right, top = left + width, bottom + height
    corners = np.stack([left, bottom, right, bottom, right, top, left, top], axis=1).reshape(-1, 4, 2)
    return ax.add_collection(PolyCollection(corners, **look), autolim=False)
