"""Small pictures side by side: samples, filters, feature maps."""

import functools

import numpy as np
from matplotlib import colormaps

from .axes import axes_or_new
from .boxes import boxes
from .columns import behind, table
from .mosaic import Mosaic, nearest
from .palette import INK, PAPER, RULE

GAP = 0.12  # between two pictures, in widths of one
WORDS = 0.34  # height of a line of words above a picture
FINE = 60  # pixels of a picture's width in the sheet of all, at least, and a multiple of its own: all of these are equally wide


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
        Its one image is the sheet of all pictures, in red, green and blue; the frames, its first collection, say where each of
        them is; ``ax.texts`` are the words.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = tiles(np.arange(8.0).reshape(2, 2, 2), ["a", "b"], ax=Figure().add_subplot())
    >>> [frame.get_extents().get_points().tolist() for frame in ax.collections[0].get_paths()]
    [[[0.0, -1.0], [1.0, 0.0]], [[1.12, -1.0], [2.12, 0.0]]]
    """
    ax = axes_or_new(ax)
    ax.set_title(title, loc="left", fontsize="medium", fontweight="bold", y=1.0)
    ax.set_axis_off()
    ax.set(xticks=(), yticks=())  # even those that nobody sees take their time
    pictures = [_flat(image) for image in images]
    if not pictures:
        ax.text(0.5, 0.5, "there is nothing to show", transform=ax.transAxes, ha="center", va="center", color=INK)
        return ax
    behind(ax, lambda: _columns(pictures))
    columns = columns or max(1, round((3 * len(pictures)) ** 0.5))
    tall = max(picture.shape[0] / picture.shape[1] for picture in pictures)
    high = tall + GAP + (WORDS if len(words) else 0)
    corners = [(place % columns * (1 + GAP), -(place // columns) * high) for place in range(len(pictures))]
    heights = [picture.shape[0] / picture.shape[1] for picture in pictures]
    _draw(ax, [_painted(picture, look) for picture, look in zip(pictures, _looks(pictures, signed, each))], corners, heights)
    frames = [(left, top - height, 1, height) for (left, top), height in zip(corners, heights)]
    boxes(ax, frames, facecolors="none", edgecolors=RULE, linewidths=0.6)
    for place, (text, (left, top)) in enumerate(zip(words, corners)):
        at_a_side = place % columns in (0, columns - 1)  # where long words need room beyond the pictures
        ax.text(left + 0.5, top + 0.05, text, ha="center", va="bottom", fontsize="small", color=INK, in_layout=at_a_side)
    rows = -(-len(pictures) // columns)
    across = min(columns, len(pictures)) * (1 + GAP)
    ax.set(xlim=(-GAP, across), ylim=(-rows * high, WORDS if len(words) else GAP), aspect="equal")
    ax.set_anchor("NW")
    return ax


def _columns(pictures):
    """Each number of each picture."""
    rows = [(number, *place, value) for number, picture in enumerate(pictures) for place, value in np.ndenumerate(_deep(picture))]
    return table(("picture", "row", "column", "channel", "value"), rows)


def _deep(picture):
    return picture[..., None] if picture.ndim == 2 else picture


def _draw(ax, painted, corners, heights):
    """All pictures as one image, which takes a fiftieth of the time of an image for each."""
    wide = max(max(picture.shape[:2]) for picture in painted)
    fine = wide * -(-FINE // wide)
    right, low = max(left for left, _ in corners) + 1, min(top - height for (_, top), height in zip(corners, heights))
    sheet = np.full((round(-low * fine), round(right * fine), 3), 255, np.uint8)
    for picture, (left, top), height in zip(painted, corners, heights):
        first, begin = round(-top * fine), round(left * fine)
        down, across = nearest(round(height * fine), len(picture)), nearest(fine, picture.shape[1])
        there = sheet[first : first + len(down), begin : begin + fine]
        there[...] = picture[down[: len(there)]][:, across[: there.shape[1]]]
    ax.add_image(Mosaic(ax, sheet, (0, right, low, 0)))


def _flat(image):
    """(H, W), or (H, W, 3) where that is a colour; of other numbers of channels their mean."""
    image = np.asarray(image)
    if image.ndim == 3 and image.shape[2] == 3 and (image.dtype == np.uint8 or (image.min() >= 0 and image.max() <= 1)):
        return image
    return image.mean(axis=2) if image.ndim == 3 else image


def _painted(picture, look):
    """As red, green and blue."""
    if picture.ndim == 3:
        return picture if picture.dtype == np.uint8 else np.round(255 * picture).astype(np.uint8)
    colours, low, high = look
    shade = np.clip((picture.astype(float) - low) / (high - low), 0, 1)
    return _colours(colours)(np.ma.masked_invalid(shade), bytes=True)[..., :3]


@functools.cache
def _colours(name):
    return colormaps[name].with_extremes(bad=PAPER)


def _looks(pictures, signed, each):
    """Of each picture its colours and their limits."""
    return [_look([picture], signed) for picture in pictures] if each else [_look(pictures, signed)] * len(pictures)


def _look(pictures, signed):
    numbers = np.concatenate([picture.reshape(-1) for picture in pictures]).astype(float)
    numbers = numbers[np.isfinite(numbers)]
    low, high = (numbers.min(), numbers.max()) if len(numbers) else (0.0, 1.0)
    if signed:
        reach = max(abs(low), abs(high)) or 1.0
        return "RdBu", -reach, reach
    return "gray", low, high if high > low else low + 1.0
