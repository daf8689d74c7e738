"""`Pane`: the place in a panel where a run is shown live."""

import html

import ipywidgets as widgets

from ..plots.axes import WIDTH
from ..plots.screens import _line
from ..plots.smooth import SMOOTHING

SIZE = {"width": f"{WIDTH}px", "max_width": "100%", "height": "auto", "margin": "0"}
HEIGHT = "380px"  # of a picture on a narrow page


class Pane:
    """A screen for `dtnn.plots.Live` that is part of a panel: an image of fixed size, and a line below it."""

    interval = 0.3

    def __init__(self):
        self.image = widgets.Image(format="png", layout=dict(SIZE))
        self.image.add_class("dtnn-live").layout.display = "none"
        self.line = widgets.HTML(layout={"margin": "0 0 4px 12px"}).add_class("dtnn-line")
        room = {"overflow": "hidden", "min_width": "0", "min_height": HEIGHT}  # what lies below stays where it is
        self.box = widgets.VBox([self.image, self.line], layout=room)
        self.last, self.text, self.scale, self.smoothing = None, "", 1.0, SMOOTHING  # scale: pixels for each of a usual one
        self._hidden, self._live = False, None

    def show(self, live):
        """Show the picture of this moment; where nobody sees it, only the words."""
        self._live = live
        if self._hidden:
            self._say(live)
            return
        live.width, live.smoothing = round(WIDTH * self.scale), self.smoothing
        self._put(live, live.png())

    def hide(self, hidden):
        """Whether nobody sees it now, so that nothing needs to be drawn."""
        self._hidden, before = hidden, self._hidden
        if before and not hidden and self._live is not None and not self._live.closed:
            self.show(self._live)

    def close(self, live):
        """Show the last picture."""
        self._live, live.smoothing = live, self.smoothing
        self.last = live.last_png()
        self._put(live, self.last)

    def smooth(self, share):
        """Take the running means of the curves over another share of their points, at once, also of a run that has ended."""
        self.smoothing = share
        if self._live is not None:
            self._live.smooth(share)

    def say(self, text):
        """A line of words while there is no picture yet."""
        self.line.value = f'<span class="dtnn-faint">{html.escape(text)}</span>'

    def _put(self, live, png):
        self.image.value = png
        self.image.layout.display = ""
        self._say(live)

    def _say(self, live):
        self.line.value = _line(live, " · ".join(live.facts))  # of a step's phases the panel tells more
        word, parts = live.headline
        self.text = " · ".join([word, *parts, *live.error.splitlines()])
