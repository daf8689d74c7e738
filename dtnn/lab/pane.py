"""`Pane`: the place in a panel where a run is shown live."""

import html

import ipywidgets as widgets

from ..plots.picture import WIDTH
from ..plots.screens import _line


class Pane:
    """A screen for `dtnn.plots.Live` that is part of a panel: an image of fixed size, and a line below it."""

    interval = 0.3

    def __init__(self):
        self.image = widgets.Image(format="png", layout={"width": "960px", "max_width": "100%", "height": "auto", "margin": "0"})
        self.image.add_class("dtnn-live").layout.display = "none"
        self.line = widgets.HTML(layout={"margin": "0 0 4px 12px"}).add_class("dtnn-line")
        self.box = widgets.VBox([self.image, self.line], layout={"overflow": "hidden", "min_width": "0"})
        self.last, self.text, self.scale = None, "", 1.0  # pixels of the picture for each of a usual one

    def show(self, live):
        """Show the picture of this moment."""
        live.width = round(WIDTH * self.scale)
        self._put(live, live.png())

    def close(self, live):
        """Show the last picture."""
        self.last = live.last_png()
        self._put(live, self.last)

    def say(self, text):
        """A line of words while there is no picture yet."""
        self.line.value = f'<span class="dtnn-faint">{html.escape(text)}</span>'

    def _put(self, live, png):
        self.image.value, self.line.value = png, _line(live)
        self.image.layout.display = ""
        word, parts = live.headline
        self.text = " · ".join([word, *parts, *live.error.splitlines()])
