"""`Insights`: tabs that look into a run, each only when somebody looks at it."""

import asyncio
import html

import ipywidgets as widgets

from .looks import Message, button, faint
from .pane import Pane
from .panel import begin

WAIT = 10.0  # seconds to wait for a step whose gradients were asked for


class Insights:
    """The live view of a run, and beside it what can be asked: a step of all ranks, where the time went, the ranks' gradients.

    Attributes
    ----------
    pane : Pane
        Where the run is shown live.
    run : Run or None
        The run to ask.
    """

    def __init__(self):
        self.pane, self.run, self._asking = Pane(), None, False
        self.layer = widgets.Dropdown(layout={"width": "200px"}, tooltip="of which layer").add_class("dtnn-of-layer")
        self.layer.observe(lambda _: self.look(), "value")
        self.step, self.words, self.gradients = (_Answer() for _ in range(3))
        asked = {"one step": self.step, "time": self.words, "gradients": self.gradients}
        again = button("look again", self.look, "ask the run anew").add_class("dtnn-look-again")
        chosen = {self.gradients: [self.layer]}
        boxes = [widgets.VBox([widgets.HBox([again, *chosen.get(answer, [])]), answer.box]) for answer in asked.values()]
        self.tabs = widgets.Tab([self.pane.box, *boxes], titles=("live", *asked)).add_class("dtnn-insights")
        self.tabs.observe(lambda _: self.look(), "selected_index")
        self.box = self.tabs

    def watch(self, run, layers):
        """From now on it is this run that is asked; `layers` are the names of those with gradients."""
        self.run = None  # a change of the choice asks nothing
        self.layer.options = layers
        self.layer.value = layers[0] if layers else None  # a list that was empty chooses nothing by itself
        self.run = run

    def look(self):
        """Ask for what is shown now; a second click while an answer is awaited does nothing."""
        work = (None, self._ask_step, self._ask_words, self._ask_gradients)[self.tabs.selected_index or 0]
        if work and not self._asking:
            self._asking = True
            begin(self._answer(work, (None, self.step, self.words, self.gradients)[self.tabs.selected_index]))

    async def _answer(self, work, answer):
        try:
            if self.run is None:
                raise ValueError("there is no run yet; train first")
            answer.wait()
            await asyncio.to_thread(work, answer)
        except Exception as error:
            answer.fail(error)
        finally:
            self._asking = False

    def _ask_step(self, answer):
        timeline = self.run.timeline()
        answer.show(picture=timeline.picture(), text=repr(timeline))

    def _ask_words(self, answer):
        answer.show(page=self.run.explain()._repr_html_())

    def _ask_gradients(self, answer):
        answer.show(picture=self.run.gradients(self.layer.value, timeout=WAIT).plot()._repr_png_())


class _Answer:
    """What came: a picture, a page of HTML, or what went wrong."""

    def __init__(self):
        self.picture = widgets.Image(format="png", layout={"max_width": "100%", "height": "auto", "display": "none"})
        self.page, self.message = widgets.HTML(), Message()
        self.box = widgets.VBox([self.message.box, self.page, self.picture])

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
        self.message.say(error)
