"""`TrainingPanel`: train and stop, and the run as it happens."""

import asyncio
import math
import time
import warnings

import ipywidgets as widgets

from ..cluster import Cluster
from ..plots.live import Live
from ..plots.phase_words import MEANING, phase_words
from ..records import Paused, Phase, Step
from .insights import Insights
from .looks import Message, button, faint
from .once import OTHER
from .panel import begin
from .rescue import Rescue

STOP_TIP = "end after the step that is under way, with what was trained so far"
PHASE_TIP = f"one phase of a step, then pause: {', '.join(MEANING)}"
PATIENCE = 3.0  # seconds that a run has to end as it was asked to, before another click ends it at once
LATE = "stopping; it has not ended yet: Stop once more ends it at once, in the middle of a step"
RECENT = 40  # records among which the last pause and its phase are


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
    bar, box : Widget
        The buttons with what they have to say, and the views.
    """

    def __init__(self, model, settings, cluster=None, ended=None):
        self._model, self._settings, self._given, self._ended = model, settings, cluster, ended
        self.cluster, self.run, self.busy, self._place = cluster, None, False, None
        self._closed, self._stopping, self._rescue = False, 0.0, None  # when it was asked to stop; 0.0: not yet
        self.train_button = button("Train", self.train, "train what is built here", "success").add_class("dtnn-train")
        self.stop_button = button("Stop", self.stop, STOP_TIP).add_class("dtnn-stop")
        self.pause_button = button("Pause", self.pause, "all ranks after the same step", within=OTHER).add_class("dtnn-pause")
        self.step_button = button("Step", self.step, "one step, or the rest of one, then pause").add_class("dtnn-step")
        self.phase_button = button("Phase", self.step_phase, PHASE_TIP).add_class("dtnn-step-phase")
        self.lr = widgets.FloatText(layout={"width": "90px"}, tooltip="the learning rate from now on").add_class("dtnn-lr")
        self.lr_button = button("set rate", self.set_lr, "use this learning rate from the next step on").add_class("dtnn-set-lr")
        self.state, self.phase = widgets.HTML().add_class("dtnn-state"), widgets.HTML(layout={"display": "none"})
        self.phase.add_class("dtnn-phase")
        self.message, self.insights = Message(), Insights(model, lambda: settings.data)
        self.insights.smoothed = self._smoothed
        self.pane = self.insights.pane
        self.pane.say("Train, and loss, accuracy and where each rank's time goes appear here, as they happen.")
        self._show_rate(settings.settings()["optimizer"])
        steps = self.train_button, self.pause_button, self.step_button, self.phase_button, self.stop_button
        self.tools = widgets.HBox([*steps, self.lr, self.lr_button, self.state], layout={"flex_flow": "row wrap"})
        self.bar = widgets.VBox([self.tools, self.message.box, self.phase], layout={"min_width": "0"})
        self.bar.add_class("dtnn-bar").add_class("dtnn-training")
        self.box = widgets.VBox([self.insights.box], layout={"min_width": "0"}).add_class("dtnn-training")
        self._show("ready")

    # ---- buttons

    def train(self):
        """Begin; a second click while that goes on does nothing."""
        if self.busy or self._closed:
            return None
        self.busy = True
        self.message.say("")
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
        self._steer(lambda run: run.set_lr(self.lr.value))

    def _steer(self, command):
        """Tell the run something; what can't be is said here, and a run that has just ended is told nothing."""
        if self.run is None or self.run.done:
            return
        try:
            command(self.run)
            self.message.say("")
        except Exception as error:
            self.message.say(error)

    def close(self):
        """End what runs, and the cluster that was started here."""
        self._closed, runs, ours = True, self.run is not None and not self.run.done, self._given is None
        if runs or (self.cluster is not None and ours):
            begin(asyncio.to_thread(self._leave))

    def _leave(self):
        """What takes its time."""
        if self.run is not None and not self.run.done:
            self.run.end("the studio was closed")
        if self.cluster is not None and self._given is None:
            self.cluster.__exit__()  # it goes on where another cell holds it, too

    # ---- what they do

    async def _train(self):
        shown = "ready"
        try:
            model, settings, data = self._model(), self._settings.settings(), self._settings.data
            cluster = await asyncio.to_thread(self._ready_cluster)
            if self._closed:
                return
            self._stopping = 0.0
            self._show_rate(settings["optimizer"])
            with self._settings.injected(), warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                self.run = model.start(data, cluster=cluster, **settings)
            self._rescue = Rescue(self.run, model)
            self.message.say("\n".join(str(warning.message) for warning in told))  # nobody looks into the log
            self.box.add_class("dtnn-began")
            self.insights.watch(self.run, [row.name for row in model.summary() if row.parameters])
            self._show(self.run.state)
            await self._follow(self.run)
            self._say_what_is_left()
            if self._ended:
                self._ended()
            shown = self.run.state
        except Exception as error:
            self.message.say(error)
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
                self._say(LATE)
            self._show_phase(_phase_of(run))
            self._rescue.tick()
            self.insights.tick()
        self._show_phase(None)
        self.insights.tick()
        if live.task is not None:
            await live.task
        live.close()

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
        self.message.say(f"The run was ended at once, without the weights of its last step: the model has {kept}.")

    def _ready_cluster(self):
        """The cluster that was asked for; one that runs is used again, one that died is started anew."""
        if self._given is not None:
            if self._given.state != "running":
                self._say("starting your cluster")
                self._given.restart()
            return self._given
        place = self._settings.place()
        if self.cluster is not None and (place != self._place or self.cluster.state != "running"):
            self.cluster.__exit__()
            self.cluster = None
        if self.cluster is None:
            self._say(f"starting {place['ranks']} {'engines' if place['launcher'] == 'mpi' else 'ranks'}")
            self.cluster, self._place = Cluster(**place, on_wait=self._say).start(), place
        return self.cluster

    def _smoothed(self):
        """A picture that stays is another one now."""
        if self._ended and self.run is not None and self.run.done and not self.busy:
            self._ended()

    def _show_rate(self, optimizer):
        rate = getattr(optimizer.lr, "arguments", None)  # of a schedule
        self.lr.value = rate.args[0] if rate and rate.args else optimizer.lr if isinstance(optimizer.lr, float | int) else 0.0

    def _say(self, text):
        if text:
            self.state.value = faint(text)

    def _show(self, state):
        self._enable()  # first: who reads that it has ended may click
        self.state.value = faint(state)

    def _show_phase(self, phase):
        """Which phase of a step was done last, where the run waits for the next one."""
        page = "" if phase is None else phase_page(phase)
        if self.phase.value != page:
            self.phase.value, self.phase.layout.display = page, "" if page else "none"

    def _enable(self):
        running = self.run is not None and not self.run.done
        self.train_button.disabled = self.busy
        buttons = self.stop_button, self.pause_button, self.step_button, self.phase_button
        for control in (*buttons, self.lr, self.lr_button):
            control.disabled = not running
        self.pause_button.description = "Resume" if running and self.run.state == "paused" else "Pause"


def phase_page(phase):
    """The phases of a step in a row, those that are done with a mark, and what the last one has made, as HTML.

    >>> from dtnn.records import Phase
    >>> phase_page(Phase(7, 1, "backward", 1, 1, [0.002, 0.001], [0.25, 0.5], 0.0))[:89]
    '<span class="dtnn-faint">✓ forward → <b>✓ backward</b> → reduce → update</span><br><span '
    """
    names = list(MEANING)
    place = names.index(phase.name)
    done = [f"✓ {name}" if number <= place else name for number, name in enumerate(names)]
    done[place] = f"<b>{done[place]}</b>"
    return f"{faint(' → '.join(done))}<br>{faint(phase_words(phase))}"


def _phase_of(run):
    """The phase after which a run waits; None if it doesn't, or has made a whole step."""
    if run.state != "paused":
        return None
    recent = run.records[-RECENT:]
    pause = next((record for record in reversed(recent) if isinstance(record, Paused)), None)
    phase = next((record for record in reversed(recent) if isinstance(record, Phase)), None)
    return phase if pause is not None and phase is not None and phase.step == pause.step else None
