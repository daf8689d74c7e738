"""`Answer`: a place in a panel for what was asked: a picture, a page of HTML, or what went wrong, in words."""

import asyncio
import html

import ipywidgets as widgets
from matplotlib import rc_context

from ..plots.axes import STYLE, paper, sheet
from ..plots.fitted import Fitted
from .looks import Message, faint
from .panel import begin

HEIGHT = 3.9  # inches of a picture


class Answer:
    """What came: a picture, a page of HTML, or what went wrong."""

    def __init__(self):
        self.picture = widgets.Image(format="png", layout={"display": "none"}).add_class("dtnn-answer")
        self.page, self.message = widgets.HTML(), Message()
        self.box = widgets.VBox([self.message.box, self.page, self.picture])
        self._asking, self._next = False, None

    @property
    def busy(self):
        """Whether something that was asked is still looked for."""
        return self._asking

    def ask(self, work):
        """Have `work(answer)` done in a thread of its own; of what is asked meanwhile the last is done next."""
        self._next = work
        if not self._asking:
            self._asking = True
            begin(self._answer())

    async def _answer(self):
        try:
            while self._next is not None:
                work, self._next = self._next, None
                self.wait()
                try:
                    await asyncio.to_thread(work, self)
                except Exception as error:
                    self.fail(error)
        finally:
            self._asking = False

    def wait(self):
        """Say that it is on its way; what was there before stays to be seen."""
        self.message.say("")
        self.page.value = self.page.value or faint("looking …")

    def show(self, picture=b"", page="", text=""):
        """Show what came."""
        self.page.value = page or (faint(html.escape(text)) if text else "")
        self.picture.value = picture
        self.picture.layout.display = "" if picture else "none"

    def fail(self, error):
        """Say why there is nothing."""
        self.page.value = ""
        self.picture.layout.display = "none"
        self.message.say(error)


def on_paper(draw, scale=1.0, height=HEIGHT):
    """The PNG of one Axes that `draw(ax)` fills, as wide as all pictures are and `height` inches high; `scale` times as dense."""
    with rc_context(STYLE):
        drawn = sheet(height, scale, layout=Fitted())
        draw(drawn.add_subplot())
        return paper(drawn)._repr_png_()


def as_png(figure, scale=1.0):
    """The PNG of a figure, `scale` times as dense as it was made."""
    with rc_context(STYLE):
        figure.set_dpi(scale * figure.dpi)
        return figure._repr_png_()
