"""Small pictures side by side: samples, filters, feature maps."""

import numpy as np
from matplotlib.patches import Rectangle

from .axes import axes_or_new
from .palette import INK, RULE

GAP = 0.12  # between two pictures, in widths of one
WORDS = 0.34  # height of a line of words above a picture


def tiles(images, words=(), ax=None, title="", columns=None, signed=False, each=False):
    """Draw small pictures in rows, each as large as the others.

    Parameters
    ----------
    images : sequence of arrays (H, W), (H, W, 1) or (H, W, 3)
        Of 3 channels, numbers from 0 to 1, or 0 to 255 in uint8, are red, green and blue.
    words : sequence of str, optional
        What stands above each, in one line.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    title : str
    columns : int, optional
        Pictures in a row; about three times as many as rows, if nothing is said.
    signed : bool
        Whether zero is to be white, positive blue, negative red.
    each : bool
        Whether each picture has its own darkest and brightest number; otherwise all have the same.

    Returns
    -------
    matplotlib Axes
        ``ax.images`` are the pictures in their order, ``ax.texts`` the words.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = tiles(np.arange(8.0).reshape(2, 2, 2), ["a", "b"], ax=Figure().add_subplot())
    >>> [image.get_array().tolist() for image in ax.images]
    [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]
    """
    ax = axes_or_new(ax)
    ax.set_title(title, loc="left", fontsize="medium", fontweight="bold")
    ax.set_axis_off()
    pictures = [_flat(image) for image in images]
    if not pictures:
        ax.text(0.5, 0.5, "there is nothing to show", transform=ax.transAxes, ha="center", va="center", color=INK)
        return ax
    columns = columns or max(1, round((3 * len(pictures)) ** 0.5))
    tall = max(picture.shape[0] / picture.shape[1] for picture in pictures)
    high = tall + GAP + (WORDS if len(words) else 0)
    look = _look(pictures, signed)
    for place, picture in enumerate(pictures):
        row, column = divmod(place, columns)
        left, top, bottom = column * (1 + GAP), -row * high, -row * high - picture.shape[0] / picture.shape[1]
        limits = _look([picture], signed) if each else look
        ax.imshow(picture, extent=(left, left + 1, bottom, top), interpolation="nearest", **limits)
        ax.add_patch(Rectangle((left, bottom), 1, top - bottom, fill=False, edgecolor=RULE, linewidth=0.6))
        if place < len(words):
            ax.text(left + 0.5, top + 0.05, words[place], ha="center", va="bottom", fontsize="small", color=INK)
    rows = -(-len(pictures) // columns)
    across = min(columns, len(pictures)) * (1 + GAP)
    ax.set(xlim=(-GAP, across), ylim=(-rows * high, WORDS if len(words) else GAP), aspect="equal")
    ax.set_anchor("NW")
    return ax


def _flat(image):
    """(H, W), or (H, W, 3) where that is a colour; of other numbers of channels their mean."""
    image = np.asarray(image)
    if image.ndim == 3 and image.shape[2] == 3 and (image.dtype == np.uint8 or (image.min() >= 0 and image.max() <= 1)):
        return image
    return image.mean(axis=2) if image.ndim == 3 else image


def _look(pictures, signed):
    """Colours and their limits."""
    numbers = np.concatenate([picture.reshape(-1) for picture in pictures]).astype(float)
    numbers = numbers[np.isfinite(numbers)]
    low, high = (numbers.min(), numbers.max()) if len(numbers) else (0.0, 1.0)
    if signed:
        reach = max(abs(low), abs(high)) or 1.0
        return {"cmap": "RdBu", "vmin": -reach, "vmax": reach}
    return {"cmap": "gray", "vmin": low, "vmax": high if high > low else low + 1.0}
