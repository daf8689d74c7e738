"""`TrainingPanel`: train and stop, and the run as it happens."""

import asyncio
import math
import time
import warnings

import ipywidgets as widgets

from ..plots.live import Live
from ..records import Step
from .insights import Insights
from .panel import begin
from .phase_page import phase_of
from .rescue import Rescue
from .training_bar import TrainingBar
from .training_cluster import TrainingCluster

PATIENCE = 3.0  # seconds that a run has to end as it was asked to, before another click ends it at once
LATE = "stopping; it has not ended yet: Stop once more ends it at once, in the middle of a step"


class TrainingPanel:
    """Buttons that begin and end a training, and its live view. Nothing here waits: the notebook stays free.

    Parameters
    ----------
    model : callable
        Gives the model to train, or raises what is wrong with it.
    settings : SettingsPanel
    cluster : Cluster, optional
        Where to train; without it one is started when it is needed, and kept.
    ended : callable, optional
        Called without arguments when a run has ended.

    Attributes
    ----------
    run : Run or None
        The last one.
    cluster : Cluster or None
    bar, box : TrainingBar, Widget
        The buttons with what they have to say, and the views.
    """

    def __init__(self, model, settings, cluster=None, ended=None):
        self._model, self._settings, self._ended = model, settings, ended
        self.run, self.busy, self._closed, self._rescue = None, False, False, None
        self._stopping = 0.0  # when it was asked to stop; 0.0: not yet
        self.bar = TrainingBar(self)
        self._place = TrainingCluster(cluster, self.bar.say)
        self.insights = Insights(model, lambda: settings.data)
        self.insights.smoothed = self._smoothed
        self.pane = self.insights.pane
        self.pane.say("Train, and loss, accuracy and where each rank's time goes appear here, as they happen.")
        self.bar.show_rate(settings.settings()["optimizer"])
        self.box = widgets.VBox([self.insights.box], layout={"min_width": "0"}).add_class("dtnn-training")
        self._show("ready")

    cluster = property(lambda self: self._place.cluster)

    # ---- buttons

    def train(self):
        """Begin; a second click while that goes on does nothing."""
        if self.busy or self._closed:
            return None
        self.busy = True
        self.bar.message.say("")
        self._show("starting")
        return begin(self._train())

    def stop(self):
        """End the run after its present step; asked for again when it has not ended for a while, now."""
        if self.run is None or self.run.done:
            return
        if not self._stopping:
            self._stopping = time.monotonic()
            self._show("stopping")
            self.run.stop()
        elif self._late:
            self._stopping = math.inf  # no click after this one does anything
            self._show("ending at once")
            self.run.interrupt()

    def pause(self):
        """Wait after the present step, or go on."""
        self._steer(lambda run: run.resume() if run.state == "paused" else run.pause())

    def step(self):
        """One step, then a pause."""
        self._steer(lambda run: run.step())

    def step_phase(self):
        """One phase of a step, then a pause within it."""
        self._steer(lambda run: run.step(phases=1))

    def set_lr(self):
        """Another learning rate for the run that goes on."""
        self._steer(lambda run: run.set_lr(self.bar.rate.value))

    def _steer(self, command):
        """Tell the run something; what can't be is said here, and a run that has just ended is told nothing."""
        if self.run is None or self.run.done:
            return
        try:
            command(self.run)
            self.bar.message.say("")
        except Exception as error:
            self.bar.message.say(error)

    def close(self):
        """End what runs, and the cluster that was started here."""
        self._closed, runs = True, self.run is not None and not self.run.done
        if runs or self._place.ours:
            begin(asyncio.to_thread(self._leave))

    def _leave(self):
        """What takes its time."""
        if self.run is not None and not self.run.done:
            self.run.end("the studio was closed")
        self._place.leave()

    # ---- what they do

    async def _train(self):
        shown = "ready"
        try:
            model, settings, data = self._model(), self._settings.settings(), self._settings.data
            cluster = await asyncio.to_thread(self._place.ready, self._settings.place())
            if self._closed:
                return
            self._stopping = 0.0
            self.bar.show_rate(settings["optimizer"])
            with self._settings.injected(), warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                self.run = model.start(data, cluster=cluster, **settings)
            self._rescue = Rescue(self.run, model)
            self.bar.message.say("\n".join(str(warning.message) for warning in told))  # nobody looks into the log
            self.box.add_class("dtnn-began")
            self.insights.watch(self.run, [row.name for row in model.summary() if row.parameters])
            self._show(self.run.state)
            await self._follow(self.run)
            self._say_what_is_left()
            if self._ended:
                self._ended()
            shown = self.run.state
        except Exception as error:
            self.bar.message.say(error)
        finally:
            self.busy = False
            self._show(shown)

    async def _follow(self, run):
        live = Live(run, screen=self.pane).start()
        shown, seen = run.state, 0
        while not run.done:
            await asyncio.sleep(0.05)
            if run.state != shown and not self._stopping:
                shown = run.state
                self._show(shown)
            if run.state == "paused" and len(run.records) > seen:  # nothing trains, so what is new may be drawn at once
                seen = len(run.records)
                live.update(force=True)
            if self._late:
                self.bar.say(LATE)
            self.bar.show_phase(phase_of(run))
            self._rescue.tick()
            self.insights.tick()
        self.bar.show_phase(None)
        begin(self._last_look())
        if live.task is not None:
            await live.task
        live.close()

    async def _last_look(self):
        """What is looked at is that of the end, also where a look was under way when that came."""
        while self.insights.busy:
            await asyncio.sleep(0.05)
        self.insights.tick()

    @property
    def _late(self):
        """Whether the run was asked to end and should have done so."""
        return bool(self._stopping) and time.monotonic() - self._stopping > PATIENCE

    def _say_what_is_left(self):
        """What the model has of a run that was ended in the middle of a step."""
        self._rescue.end()
        if self.run.state != "interrupted" or self.run.results[0] is not None or self.run.records.last(Step) is None:
            return
        kept = f"those after step {self._rescue.step:,}" if self._rescue.step else "those from before it"
        self.bar.message.say(f"The run was ended at once, without the weights of its last step: the model has {kept}.")

    def _smoothed(self):
        """A picture that stays is another one now."""
        if self._ended and self.run is not None and self.run.done and not self.busy:
            self._ended()

    def _show(self, state):
        self.bar.show(state, self.run, self.busy)
