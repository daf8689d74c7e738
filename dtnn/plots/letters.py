"""`letters`: many short texts as one artist; a matplotlib Text for each would take five times as long."""

from matplotlib.artist import Artist
from matplotlib.font_manager import FontProperties

from .axes import Sheet


def letters(ax, places, words, colours, size="small"):
    """Write words into the Axes, each centred at its place; on a figure that is not our own, as usual texts.

    Parameters
    ----------
    ax : matplotlib Axes
    places : sequence of (x, y)
        In the Axes' data.
    words, colours : sequence of str
    size : str or float
        Of the letters, as matplotlib takes it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> letters(ax, [(0, 0), (1, 1)], ["a", "b"], ["black", "red"])
    >>> [text.get_text() for text in ax.texts]
    ['a', 'b']
    """
    if isinstance(ax.figure, Sheet):
        ax.add_artist(Letters(list(places), list(words), list(colours), size))
        return
    for (x, y), text, colour in zip(places, words, colours):
        ax.text(x, y, text, color=colour, ha="center", va="center", fontsize=size, in_layout=False)


class Letters(Artist):
    """The artist behind `letters`; a layout takes no notice of it."""

    zorder = 3

    def __init__(self, places, words, colours, size):
        super().__init__()
        self.places, self.words, self.colours, self._font = places, words, colours, FontProperties(size=size)
        self.set_in_layout(False)

    def draw(self, renderer):
        """Every word."""
        if not self.get_visible() or not self.words:
            return
        gc, height = renderer.new_gc(), renderer.get_canvas_width_height()[1] if renderer.flipy() else 0
        _, tall, low = renderer.get_text_width_height_descent("lp", self._font, False)  # as high as any, so all have one line
        for (x, y), text, colour in zip(self.axes.transData.transform(self.places), self.words, self.colours):
            wide, below = renderer.get_text_width_height_descent(text, self._font, False)[0], y - tall / 2 + low
            gc.set_foreground(colour)
            renderer.draw_text(gc, x - wide / 2, height - below if height else below, text, self._font, 0)
        gc.restore()
