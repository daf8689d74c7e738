"""A network drawn to scale: a block for each layer that changes the shape or has weights (but for normalisation)."""

import math

from matplotlib.collections import PolyCollection

from .axes import axes_or_new
from .columns import behind, table
from .palette import FAINT, INK, PAPER, RANKS, STATES

KINDS = {
    "conv": RANKS[0],
    "linear": RANKS[2],
    "attention": RANKS[2],
    "transformer": RANKS[2],
    "embedding": RANKS[2],
    "pool": RANKS[1],
    "norm": RANKS[3],
    "residual": RANKS[4],
    "concatenate": RANKS[4],
}
OTHER = "#B8BEC6"
SLANT = 0.32  # how far a block's depth goes to the right and up, for its width
THINNEST = 0.9  # or it could not be seen
GAP = 3.0  # between two blocks, at least
WIDE = 3.6  # width of the picture for its height
UPRIGHT = 11  # blocks up to which names are written level


def network(rows, input_shape, ax=None):
    """Draw a network from left to right: height and depth of a block are the image's, its thickness the channels.

    Lengths grow with the square root of the numbers, so that 1 and 4096 find room in one picture; vectors are thin bars as
    high as their features. In a long network all thicknesses are made smaller by the same factor.

    Parameters
    ----------
    rows : sequence
        One a layer, with `name` ("conv2d_1"), `shape` (of one sample inside: (C, H, W), (D,) or (D, T)), `parameters`, and
        perhaps `error`: `Model.summary()` gives them. A layer without a shape, behind a misfit, is left out.
    input_shape : tuple
        Shape of one sample as it goes in, (C, H, W), (D,) or (D, T).
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.

    Returns
    -------
    matplotlib Axes
        The blocks' faces are its first collection, three a block.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from matplotlib.figure import Figure
    >>> rows = [SimpleNamespace(name="linear_1", shape=(10,), parameters=650)]
    >>> ax = network(rows, (64,), ax=Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]
    ['input', '64', 'linear_1', '10']
    """
    ax = axes_or_new(ax, (9.6, 2.6))
    ax.set_axis_off()
    ax.set_aspect("equal")
    shown = blocks(rows, input_shape)
    behind(ax, lambda: table(("name", "shape", "error"), shown))
    sizes = [extents(shape) for _, shape, _ in shown]
    highest = max(height / 2 + SLANT * depth for _, height, depth in sizes)
    thin, gap = spread(sizes, 2 * highest * WIDE)
    faces, paint, right = [], [], 0.0
    for (name, shape, error), (thickness, height, depth) in zip(shown, sizes):
        thickness = max(THINNEST, thin * thickness)
        left, width = right, thickness + SLANT * depth
        faces += cuboid(left, thickness, height, depth)
        paint += shades(STATES["failed"] if error else kind_colour(name))
        _label(ax, left + width / 2, height / 2 + SLANT * depth, height, name, shape, error, len(shown))
        right = left + width + gap
    ax.add_collection(PolyCollection(faces, facecolors=paint, edgecolors=PAPER, linewidths=0.6))
    ax.set_xlim(-gap / 2, right - gap / 2)
    few = len(shown) <= UPRIGHT
    ax.set_ylim(-highest * (1.3 if few else 2.0), highest * (1.25 if few else 1.5))
    return ax


def spread(sizes, width):
    """The factor for all thicknesses, and the gap between blocks, that fill a width.

    >>> spread([(1.0, 9.0, 0.0), (3.0, 9.0, 0.0)], 24.0)
    (1.0, 10.0)
    """
    slanted, thick = sum(SLANT * depth for _, _, depth in sizes), sum(thickness for thickness, _, _ in sizes)
    room = width - slanted - GAP * len(sizes)
    thin = min(1.0, max(0.1, room / thick))
    return thin, max(GAP, (width - slanted - thin * thick) / len(sizes))


def blocks(rows, input_shape):
    """(name, shape, error) of what is drawn: the input, and each layer that changes the shape, has weights, or is wrong."""
    found, shape = [("input", tuple(input_shape), "")], tuple(input_shape)
    for row in rows:
        error = getattr(row, "error", "")
        if error:
            found.append((row.name, shape, error))
        if row.shape is None:
            break
        if tuple(row.shape) != shape or (row.parameters and "norm" not in row.name):
            found.append((row.name, tuple(row.shape), ""))
        shape = tuple(row.shape)
    return found


def extents(shape):
    """(thickness, height, depth) of a block, the square roots of channels, rows and columns.

    >>> extents((16, 9, 4)), extents((100,))
    ((4.0, 3.0, 2.0), (1.0, 10.0, 0.0))
    """
    if len(shape) == 3:
        return tuple(math.sqrt(n) for n in shape)
    return (math.sqrt(shape[1]) if len(shape) == 2 else 1.0), math.sqrt(shape[0]), 0.0


def cuboid(left, thickness, height, depth):
    """Front, top and right face of a block that stands around the middle line."""
    low, high, slant = -height / 2, height / 2, SLANT * depth
    right = left + thickness
    front = [(left, low), (right, low), (right, high), (left, high)]
    top = [(left, high), (right, high), (right + slant, high + slant), (left + slant, high + slant)]
    side = [(right, low), (right + slant, low + slant), (right + slant, high + slant), (right, high)]
    return [front, top, side]


def kind_colour(name):
    """The colour of a layer's kind, by its name."""
    return next((colour for kind, colour in KINDS.items() if kind in name), OTHER)


def shades(colour):
    """Colours of the front, the top and the side of a block."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    lighter = tuple(part + (1 - part) * 0.45 for part in parts)
    darker = tuple(part * 0.75 for part in parts)
    return [tuple(parts), lighter, darker]


def _label(ax, x, top, height, name, shape, error, count):
    few = count <= UPRIGHT
    low, numbers = -height / 2 - 1.0, "×".join(map(str, shape))
    turn = {"rotation": 0, "ha": "center"} if few else {"rotation": 55, "ha": "right", "rotation_mode": "anchor"}
    ink = STATES["failed"] if error else INK
    ax.text(x, low, name, va="top" if few else "center", fontsize="small" if few else "x-small", color=ink, **turn)
    if few:
        ax.text(x, top + 0.8, numbers, ha="center", va="bottom", fontsize="small", color=FAINT)
    else:
        ax.text(
            x, top + 0.8, numbers, ha="left", va="bottom", rotation=40, rotation_mode="anchor", fontsize="xx-small", color=FAINT
        )
