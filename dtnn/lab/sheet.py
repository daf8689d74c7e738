"""`Sheet`: a matplotlib figure that is shown in a widget, and can be changed there."""

import ipywidgets as widgets
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ..plots.axes import STYLE, paper
from ..plots.fitted import Fitted
from ..plots.png import COLOURS, png


class Sheet:
    """An ipywidgets Image of fixed size, and the figure that is drawn into it.

    Parameters
    ----------
    width, height : int
        Pixels.
    colours : int or None
        At most so many in the picture, see `dtnn.plots.png`.
    """

    def __init__(self, width, height, colours=COLOURS):
        self.size, self.colours, self.png, self.figure = (width, height), colours, None, None
        self._ground = self._frame = None
        self._laid_out = False
        layout = {"width": f"{width}px", "max_width": "100%", "height": "auto", "margin": "0"}
        self.image = widgets.Image(format="png", layout=layout).add_class("dtnn-sheet")

    def axes(self, columns=1, rows=1, **how):
        """New, empty axes in place of what was there: one, or an array of them."""
        self._ground, self._laid_out = None, False
        with rc_context(STYLE):
            self.figure = Figure(figsize=(self.size[0] / 100, self.size[1] / 100), dpi=100, layout=Fitted())
            FigureCanvasAgg(self.figure)
            return self.figure.subplots(rows, columns, **how)

    def whole(self):
        """One new, empty Axes that is the whole picture, for what has no ticks nor titles; no layout to be found."""
        with rc_context(STYLE):
            self.figure = Figure(figsize=(self.size[0] / 100, self.size[1] / 100), dpi=100)
            FigureCanvasAgg(self.figure)
            ax = self.figure.add_axes((0, 0, 1, 1))
            paper(self.figure)
        self._ground, self._laid_out = None, True
        return ax

    def show(self, moving=(), frame=None):
        """Draw the figure as it is now; its layout is found once.

        Parameters
        ----------
        moving : sequence of artists
            If given, only these are drawn anew, over what the rest looked like, in this order.
        frame : hashable
            What the rest depends on, such as limits; when it changes, everything is drawn.
        """
        with rc_context(STYLE):
            if not self._laid_out:
                paper(self.figure)
                self.figure.get_layout_engine().execute(self.figure)
                self.figure.set_layout_engine("none")
                self._laid_out = True
            if moving:
                self._draw_over(moving, frame)
            else:
                self.figure.canvas.draw()
        self.png = png(self.figure.canvas, self.colours)
        self.image.value = self.png

    def _draw_over(self, moving, frame):
        canvas = self.figure.canvas
        if self._ground is None or frame != self._frame:
            for artist in moving:
                artist.set_animated(True)
            canvas.draw()
            self._ground, self._frame = canvas.copy_from_bbox(self.figure.bbox), frame
        canvas.restore_region(self._ground)
        for artist in moving:
            self.figure.draw_artist(artist)
