"""`Insights`: tabs that look into a run, each only when somebody looks at it."""

import asyncio
import time

import ipywidgets as widgets

from ..plots.axes import WIDTH
from ..plots.breakdown import breakdown
from ..plots.by_rank import TITLES, by_rank
from ..plots.gradient_curve import gradient_curve
from ..plots.story import NOW
from ..plots.time_by_rank import recent, time_by_rank
from .answer import Answer, as_png, on_paper
from .compare_tab import CompareTab
from .looks import button
from .model_tab import ModelTab
from .pane import Pane
from .panel import begin
from .smoothing import Smoothing
from .step_choice import StepChoice

ASKED = 4  # tabs that ask the run
WAIT = 10.0  # seconds to wait for a step whose gradients were asked for
TIME = {"time, now": lambda told, ax: time_now(told, ax), "time, step by step": time_by_rank}
OF_RANKS = [*TITLES, *TIME, "accuracy", ("validation loss", "val_loss"), ("validation accuracy", "val_accuracy")]
OVER_TIME = "over time"
LEAST, SHARE = 3.0, 0.01  # seconds between two looks that nobody asked for; of a core's time, at most, that they take


class Insights:
    """The live view of a run, and beside it what can be asked: a step of all ranks, where the time went, the ranks' gradients, a
    line for each rank; and the model, and other runs to compare it with.

    Parameters
    ----------
    model, data : callable
        Give those of the moment, or raise what is wrong with them.

    Attributes
    ----------
    pane : Pane
        Where the run is shown live.
    run : Run or None
        The run to ask.
    smoothed : callable or None
        Called without arguments when the curves have been drawn with another smoothing.
    """

    def __init__(self, model, data):
        self.pane, self.run, self._asking, self.scale, self.smoothed = Pane(), None, False, 1.0, None
        self._again = False  # whether something else was asked for meanwhile
        self._due, self._seen, self._by_itself = 0.0, 0, False  # when to look again, what was there, whether nobody asked
        about = {"layout": {"width": "200px"}, "tooltip": "its norm step by step, or all ranks' gradients of a layer in one step"}
        self.layer = widgets.Dropdown(options=[OVER_TIME], **about).add_class("dtnn-of-layer")
        self.layer.observe(lambda _: self.look(), "value")
        self.what = widgets.Dropdown(options=_pairs(OF_RANKS), layout={"width": "170px"}, tooltip="what of each rank")
        self.what.add_class("dtnn-of-ranks").observe(lambda _: self.look(), "value")
        self.steps = StepChoice(self.look)
        about = "look again every few seconds while a run goes on; gradients of a layer cost the ranks time, and wait"
        self.follows = widgets.Checkbox(True, description="follow", indent=False, tooltip=about, layout={"width": "80px"})
        self.smoothing = Smoothing(self._smooth)
        self.step, self.words, self.gradients, self.ranks = (Answer() for _ in range(4))
        asked = {"one step": self.step, "time": self.words, "gradients": self.gradients, "ranks": self.ranks}
        again = button("look again", self.look, "ask the run anew").add_class("dtnn-look-again")
        slider, row = self.smoothing.slider, {"layout": {"flex_flow": "row wrap"}}
        chosen = {self.step: [self.steps.control], self.gradients: [self.layer, slider], self.ranks: [self.what, slider]}
        tools = {answer: [again, *chosen.get(answer, []), self.follows.add_class("dtnn-follow")] for answer in asked.values()}
        boxes = [widgets.VBox([widgets.HBox(tools[answer], **row), answer.box]) for answer in asked.values()]
        self.model, self.compare = ModelTab(model, data), CompareTab(self.smoothing)
        live = widgets.VBox([self.pane.box, slider], layout={"min_width": "0"})
        boxes, titles = [live, *boxes, self.model.box, self.compare.box], ("live", *asked, "model", "compare")
        self.tabs = widgets.Tab(boxes, titles=titles).add_class("dtnn-insights")
        self.tabs.observe(lambda _: self._other_tab(), "selected_index")
        self.box = self.tabs

    @property
    def busy(self):
        """Whether something that was asked, of the run or the model, is still looked for."""
        return self._asking or self.model.answer.busy

    def enlarge(self, scale):
        """From now on pictures have `scale` times as many pixels in a row."""
        self.scale = self.pane.scale = self.model.scale = self.compare.scale = scale

    def watch(self, run, layers):
        """From now on it is this run that is asked; `layers` are the names of those with gradients."""
        self.run = None  # a change of the choice asks nothing
        chosen, self.layer.options = self.layer.value, [OVER_TIME, *layers]
        self.layer.value = chosen if chosen in self.layer.options else OVER_TIME
        self.steps.forget()
        self.run, self._due, self._seen = run, 0.0, 0
        self.model.follow(run)
        self.compare.keep(run)

    def _smooth(self):
        """Draw what is looked at anew, and the live view, which is seen next."""
        self.pane.smooth(self.smoothing.share)
        if self.smoothed:
            self.smoothed()
        if self.tabs.selected_index:
            self.look()

    def _other_tab(self):
        self.pane.hide(bool(self.tabs.selected_index))
        self.look()

    def tick(self):
        """Called often while a run goes on: what follows it by itself does so where it is looked at."""
        place = self.tabs.selected_index or 0
        if place == ASKED + 1:
            self.model.tick()
        elif 0 < place <= ASKED and self._is_due(place):
            self._by_itself = True
            self.look()

    def _is_due(self, place):
        """Whether what is looked at may have changed, and can be looked at again at next to no cost."""
        if not self.follows.value or self._asking or len(self.run.records) == self._seen:
            return False
        asks_the_ranks = place == 3 and self.layer.value != OVER_TIME
        return not asks_the_ranks and (self.run.done or time.monotonic() >= self._due)

    def look(self):
        """Ask for what is shown now; while an answer is awaited, what is asked meanwhile comes once after it."""
        place = self.tabs.selected_index or 0
        if place > ASKED:
            (self.model, self.compare)[place - ASKED - 1].look()
        elif place and self._asking:
            self._again = True
        elif place:
            self._asking, self._again = True, False
            work = (self._ask_step, self._ask_words, self._ask_gradients, self._ask_ranks)[place - 1]
            begin(self._answer(work, (self.step, self.words, self.gradients, self.ranks)[place - 1]))

    async def _answer(self, work, answer):
        try:
            if self.run is None:
                raise ValueError("there is no run yet; train first")
            answer.wait()
            self._seen = len(self.run.records)
            cost = await asyncio.to_thread(_timed, work, answer)
            self._due = time.monotonic() + max(LEAST, cost / SHARE)
        except Exception as error:
            answer.fail(error)
        finally:
            self._asking = self._by_itself = False
        if self._again:
            self.look()

    def _ask_step(self, answer):
        timeline = self.run.timeline()
        if not self._by_itself or self.run.done:  # else somebody may just be choosing
            self.steps.offer(timeline.steps)
        if not timeline.steps:
            answer.show(picture=timeline.picture())
            return
        step, count = self.steps.of(timeline), len(timeline.steps)
        seen = f"step {step.step:,}, {1e3 * step.seconds:.3g} ms; {count:,} step{'s' * (count != 1)} looked at closely so far"
        answer.show(picture=timeline.picture(step.step, round(WIDTH * self.scale)), text=seen)

    def _ask_words(self, answer):
        answer.show(page=f'<div class="dtnn-table">{self.run.explain()._repr_html_()}</div>')

    def _ask_gradients(self, answer):
        if self.layer.value == OVER_TIME:
            answer.show(picture=on_paper(self._over_time, self.scale))
            return
        answer.show(picture=as_png(self.run.gradients(self.layer.value, timeout=WAIT).plot(), self.scale))

    def _ask_ranks(self, answer):
        told, share = list(self.run.records), self.smoothing.share
        if self.what.value in TIME:
            answer.show(picture=on_paper(lambda ax: TIME[self.what.value](told, ax), self.scale))
            return
        answer.show(picture=on_paper(lambda ax: by_rank(told, ax, self.what.value, share), self.scale))

    def _over_time(self, ax):
        gradient_curve(list(self.run.records), ax, self.smoothing.share)


def _pairs(options):
    """Label and value of each."""
    return [option if isinstance(option, tuple) else (option, option) for option in options]


def time_now(told, ax):
    """Draw where each rank's time has gone in its last seconds."""
    title = breakdown(recent(told), ax, "percent").set_title
    title(f"Where each rank's time goes, in its last {NOW:g} seconds", loc="left", fontsize="medium", fontweight="bold")


def _timed(work, answer):
    """Do it, and return how many seconds of a core it took."""
    began = time.thread_time()
    work(answer)
    return time.thread_time() - began
