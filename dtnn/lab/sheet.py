"""`Sheet`: a matplotlib figure that is shown in a widget, and can be changed there."""

import io

import ipywidgets as widgets
from matplotlib import rc_context
from PIL import Image

from ..plots import axes
from ..plots.axes import STYLE, paper
from ..plots.fitted import Fitted
from ..plots.palette import PAPER
from ..plots.png import COLOURS, png
from ..plots.rulers import rulers

PAGE = 650  # pixels; the letters of a wider picture are larger, so that all are 9 high where 530 of a page are left for it
ALMOST = 0.01  # of a pixel, so that no whole one is lost by rounding


class Sheet:
    """An ipywidgets Image of fixed size, and the figure that is drawn into it.

    Parameters
    ----------
    width, height : int
        Pixels.
    colours : int or None
        At most so many in the picture, see `dtnn.plots.png`.
    scale : float
        So many pixels of the picture for each of the page, for letters that are enlarged.
    """

    def __init__(self, width, height, colours=COLOURS, scale=1.0):
        self.size, self.colours, self.dpi, self.png, self.figure = (width, height), colours, 100 * scale, None, None
        self._ground = self._frame = None
        self._laid_out = False
        layout = {"width": f"{width}px", "max_width": "100%", "height": "auto", "margin": "0"}
        self.image = widgets.Image(format="png", layout=layout).add_class("dtnn-sheet")

    def resize(self, width, height):
        """Other pixels for the next `axes`."""
        self.size, self.image.layout.width = (width, height), f"{width}px"

    def __repr__(self):
        return f"<Sheet of {self.size[0]} x {self.size[1]} pixels>"

    def axes(self, columns=1, rows=1, **how):
        """New, empty axes in place of what was there: one, or an array of them."""
        self._ground, self._laid_out = None, False
        with rc_context(STYLE):
            larger = max(1.0, self.size[0] / PAGE)  # letters, of a picture that a narrow page makes smaller
            inches = [(pixels + ALMOST) / 100 / larger for pixels in self.size]
            self.figure = axes.Sheet(figsize=inches, dpi=larger * self.dpi, layout=Fitted())
            return self.figure.subplots(rows, columns, **how)

    def whole(self):
        """One new, empty Axes that is the whole picture, for what has no ticks nor titles; no layout to be found."""
        with rc_context(STYLE):
            self.figure = axes.Sheet(figsize=(self.size[0] / 100, self.size[1] / 100), dpi=self.dpi)
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
                with rulers(self.figure):
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


def side_by_side(*sheets):
    """The pictures of sheets as the bytes of one PNG, where there are no widgets to be arranged."""
    images = [Image.open(io.BytesIO(sheet.png)).convert("RGB") for sheet in sheets]
    size = sum(image.width for image in images), max(image.height for image in images)
    whole, left, written = Image.new("RGB", size, PAPER), 0, io.BytesIO()
    for image in images:
        whole.paste(image, (left, 0))
        left += image.width
    whole.save(written, "png")
    return written.getvalue()
