"""Where a drawing function draws: the Axes it is given, or one of its own."""

import contextlib

from matplotlib import rcParamsDefault
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator

from ..allowed import shown
from .canvas import Canvas, Renderer
from .palette import FAINT, INK, PAPER, RULE
from .png import COLOURS, png
from .rulers import rulers

WIDTH = 792  # pixels of a picture; on a page of 1,000 a notebook has 550 for it, in which the smallest letters are 9 high
INCHES, DPI = 7.2, 110
STYLED = ("axes", "font", "grid", "hatch", "legend", "lines", "patch", "text", "xtick", "ytick")
STYLE = {key: value for key, value in rcParamsDefault.items() if key.split(".")[0] in STYLED}
STYLE |= {"font.size": 10.7, "text.color": INK, "hatch.linewidth": 1.2}


class Sheet(Figure):
    """A figure that is in nobody's list of open ones, and that a notebook shows all the same."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        Canvas(self)

    def draw(self, renderer):
        """Draw everything; on our own canvas quickly."""
        with rulers(self) if isinstance(renderer, Renderer) else contextlib.nullcontext():
            super().draw(renderer)

    def save(self, path):
        """Write the picture to a file, ``.png``, ``.svg`` or ``.pdf``."""
        self.savefig(path)

    def _repr_png_(self):
        canvas = self.canvas if isinstance(self.canvas, Canvas) else Canvas(self)
        canvas.draw()
        return png(canvas, None if any(ax.images for ax in self.axes) else COLOURS)


def sheet(height, scale=1.0, **how):
    """A figure as wide as all pictures are, `height` inches high; `scale` times as many pixels."""
    return Sheet(figsize=(INCHES, height), dpi=DPI * scale, **how)


def axes_or_new(ax, figsize=(6.4, 3.6)):
    """`ax` itself; without one, the Axes of a new pyplot figure, which a notebook shows by itself."""
    if ax is not None and not hasattr(ax, "set_title"):
        raise TypeError(f"ax={shown(ax)}: give Axes of matplotlib, or leave it out, and the picture has its own")
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=figsize, layout="constrained")[1]


def dress(ax, title="", x="", y="", grid="y"):
    """The same quiet frame for every picture: two spines, a faint grid, a title at the left."""
    ax.set_title(title, loc="left", fontsize="medium", fontweight="bold", y=1.0)  # or its place would be sought at each drawing
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(axis=grid, color=RULE, alpha=0.7, linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def names(axis, places, words, size="medium"):
    """Words in place of numbers along an axis; a tick for each is only made where matplotlib itself draws it.

    >>> ax = Figure().add_subplot()
    >>> names(ax.yaxis, (0, 1), ("cat", "dog"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['cat', 'dog']
    """
    axis.set_major_locator(FixedLocator(list(places)))
    axis.set_major_formatter(FixedFormatter(list(words)))
    axis.set_tick_params(labelsize=size)


def slanted(ax, angle=60):
    """Long words below an axis, each ending at its tick."""
    ax.tick_params(axis="x", labelrotation=angle)
    for label in () if isinstance(ax.figure, Sheet) else ax.get_xticklabels():  # a ruler does so by itself
        label.set_ha("right")


def remark(ax):
    """An empty text in the middle of the Axes, for what is to be said while there is nothing to draw."""
    return ax.text(0.5, 0.5, "", transform=ax.transAxes, ha="center", va="center", fontsize="small", color=FAINT)


def paper(figure):
    """Opaque paper and dark ink for a figure of our own, whatever style the user has set."""
    figure.set_facecolor(PAPER)
    for ax in figure.axes:
        ax.set_facecolor(PAPER)
        ax.tick_params(which="both", colors=INK)
        for text in (ax.xaxis.label, ax.yaxis.label, ax.title, ax._left_title, ax._right_title):
            text.set_color(INK)
        for spine in ax.spines.values():
            spine.set_edgecolor(INK)
    return figure
