"""`key`: what lines and colours mean, beside or below a picture, in a fourth of the time of matplotlib's legend."""

import numpy as np
from matplotlib.artist import Artist
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

from .axes import Sheet
from .palette import INK

HANDLE, GAP, APART, LINE = 1.6, 0.5, 1.2, 1.42  # a handle's length, what is after it, between columns, of a line: in letters
PAD = 0.4  # between the place and the first line


def key(ax, handles, labels, at=(1.0, 1.0), columns=1, title="", handle=HANDLE, below=0.0):
    """Explain handles by their labels, from a place of the Axes to the right and down.

    On one of our own figures that is an artist of few strokes, elsewhere matplotlib's own legend; `ax.get_legend()` has it.

    Parameters
    ----------
    ax : matplotlib Axes
    handles : list of Line2D or Patch
    labels : list of str
    at : (float, float)
        Left and upper end, in the Axes' width and height.
    columns : int
    title : str
    handle : float
        Length of a handle, in heights of a letter.
    below : float
        Inches by which it is lower than `at`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> [text.get_text() for text in key(ax, [Line2D([], [])], ["loss"]).get_texts()]
    ['loss']
    """
    if isinstance(ax.figure, Sheet):
        made = ax.legend_ = Key(ax, list(handles), list(labels), at, columns, title, handle, below)
        made._remove_method = lambda _: setattr(ax, "legend_", None)
        return made
    look = {"title": title or None, "title_fontsize": "small", "fontsize": "small", "frameon": False, "borderaxespad": PAD}
    sizes = {"handlelength": handle, "handletextpad": GAP, "columnspacing": APART}
    return ax.legend(handles, labels, loc="upper left", bbox_to_anchor=at, ncols=columns, **look, **sizes)


class Key(Artist):
    """The artist behind `key`; its entries fill columns from above, as those of matplotlib's legend do."""

    def __init__(self, ax, handles, labels, at, columns, title, handle, below):
        super().__init__()
        self.set_figure(ax.figure)
        self.axes, self.legend_handles = ax, handles
        self._at, self._columns, self._handle, self._below = at, columns, handle, below
        self._font, self._size = FontProperties(size="small"), None
        self._texts = [Text(0, 0, label, color=INK, fontproperties=self._font, va="center") for label in labels]
        self._title = Text(0, 0, title, color=INK, fontproperties=self._font, va="center")
        for text in (*self._texts, self._title):
            text.set_figure(ax.figure)
        self._line, self._patch = Line2D([], []), Rectangle((0, 0), 1, 1)
        for glyph in (self._line, self._patch):
            glyph.set_figure(ax.figure)

    def get_texts(self):
        """The labels."""
        return self._texts

    def get_title(self):
        """The title; its text is "" without one."""
        return self._title

    def get_window_extent(self, renderer=None):
        """The room that it takes."""
        width, height = self._room(renderer)
        left, top = self._corner()
        return Bbox.from_extents(left, top - height, left + width, top)

    get_tightbbox = get_window_extent

    def draw(self, renderer):
        """The title, then each handle with its label."""
        if not self.get_visible():
            return
        (left, top), em, tall = self._corner(), self._em(), self._tall(renderer)
        if self._title.get_text():
            self._title.set_position((left, top - (PAD + 0.5 * LINE) * em))
            self._title.draw(renderer)
        for (column, line), handle, text in zip(self._places(renderer), self.legend_handles, self._texts):
            x, y = left + column, top - line - tall[text] / 2
            self._draw_handle(renderer, handle, x, y, em)
            text.set_position((x + (self._handle + GAP) * em, y))
            text.draw(renderer)

    def _draw_handle(self, renderer, handle, x, y, em):
        width = self._handle * em
        if isinstance(handle, Line2D):
            self._line.update_from(handle)
            self._line.set(xdata=[x, x + width / 2, x + width], ydata=[y] * 3, markevery=[1], transform=IdentityTransform())
            self._line.set_markersize(min(handle.get_markersize(), self._font.get_size_in_points()))
            self._line.set(clip_path=None, clip_box=None, visible=True, animated=False)
            self._line.draw(renderer)
        else:
            self._patch.update_from(handle)
            self._patch.set(clip_path=None, clip_box=None, transform=IdentityTransform(), visible=True)
            self._patch.set_bounds(x, y - 0.35 * em, width, 0.7 * em)
            self._patch.draw(renderer)

    # ---- where

    def _em(self):
        return self._font.get_size_in_points() * self.figure.dpi / 72

    def _corner(self):
        """Its left upper end, in pixels."""
        x, y = self.axes.transAxes.transform(self._at)
        return x + PAD * self._em(), y - self._below * self.figure.dpi

    def _tall(self, renderer):
        """The height of each label's lines."""
        return {text: (text.get_text().count("\n") + LINE) * self._em() for text in self._texts}

    def _places(self, renderer):
        """Where each entry begins: pixels from the left and from above."""
        em, tall = self._em(), self._tall(renderer)
        count = -(-len(self._texts) // self._columns) or 1
        begin = (PAD + LINE * bool(self._title.get_text())) * em
        found, x = [], 0.0
        for first in range(0, len(self._texts), count):
            column = self._texts[first : first + count]
            y = begin + np.concatenate([[0.0], np.cumsum([tall[text] for text in column])])
            found += [(x, float(line)) for line in y[:-1]]
            x += self._wide(column, renderer) + APART * em
        return found

    def _wide(self, column, renderer):
        """Pixels of a column without what is beside it."""
        widest = max((self._width(text, renderer) for text in column), default=0.0)
        return (self._handle + GAP) * self._em() + widest

    def _width(self, text, renderer):
        renderer = renderer or self.figure.canvas.get_renderer()
        lines = text.get_text().split("\n")
        return max(renderer.get_text_width_height_descent(line, text.get_fontproperties(), False)[0] for line in lines)

    def _room(self, renderer):
        """Width and height of all of it."""
        places, tall, em = self._places(renderer), self._tall(renderer), self._em()
        columns = sorted({x for x, _ in places})
        width = 0.0
        if columns:
            last = [text for (x, _), text in zip(places, self._texts) if x == columns[-1]]
            width = columns[-1] + self._wide(last, renderer)
        if self._title.get_text():
            width = max(width, self._width(self._title, renderer))
        height = max((y + tall[text] for (_, y), text in zip(places, self._texts)), default=0.0)
        return width, height + PAD * em
