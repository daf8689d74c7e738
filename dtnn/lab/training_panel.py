"""`TrainingPanel`: train and stop, and the run as it happens."""

import asyncio

import ipywidgets as widgets

from ..cluster import Cluster
from ..plots.live import Live
from .insights import Insights
from .looks import Message, button, faint
from .panel import begin


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
    """

    def __init__(self, model, settings, cluster=None, ended=None):
        self._model, self._settings, self._given, self._ended = model, settings, cluster, ended
        self.cluster, self.run, self.busy, self._place = cluster, None, False, None
        self._closed = self._stopping = False
        self.train_button = button("Train", self.train, "train what is built here", "success").add_class("dtnn-train")
        self.stop_button = button("Stop", self.stop, "end after the step that is under way").add_class("dtnn-stop")
        self.pause_button = button("Pause", self.pause, "all ranks after the same step").add_class("dtnn-pause")
        self.step_button = button("Step", self.step, "one step, then pause").add_class("dtnn-step")
        self.lr = widgets.FloatText(layout={"width": "90px"}, tooltip="the learning rate from now on").add_class("dtnn-lr")
        self.lr_button = button("set rate", self.set_lr, "use this learning rate from the next step on").add_class("dtnn-set-lr")
        self.state = widgets.HTML().add_class("dtnn-state")
        self.message, self.insights = Message(), Insights(model, lambda: settings.data)
        self.pane = self.insights.pane
        buttons = self.train_button, self.pause_button, self.step_button, self.stop_button, self.lr, self.lr_button, self.state
        self.tools = widgets.HBox(buttons, layout={"flex_flow": "row wrap"})
        self.box = widgets.VBox([self.tools, self.message.box, self.insights.box], layout={"min_width": "0"}).add_class(
            "dtnn-training"
        )
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
        """End the run after its present step; asked for again, now."""
        if self.run is not None and not self.run.done:
            if self._stopping:
                self.run.interrupt()
            self._stopping = True
            self._show("stopping")
            self.run.stop()

    def pause(self):
        """Wait after the present step, or go on."""
        self._steer(lambda run: run.resume() if run.state == "paused" else run.pause())

    def step(self):
        """One step, then a pause."""
        self._steer(lambda run: run.step())

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
        self._closed = True
        if self.run is not None and not self.run.done:
            self.run.interrupt()
        if self.cluster is not None and self._given is None:
            begin(asyncio.to_thread(self.cluster.__exit__))  # it goes on where another cell holds it, too

    # ---- what they do

    async def _train(self):
        try:
            model, settings, data = self._model(), self._settings.settings(), self._settings.data
            cluster = await asyncio.to_thread(self._ready_cluster)
            if self._closed:
                return
            self._stopping = False
            self._show_rate(settings["optimizer"])
            with self._settings.injected():
                self.run = model.start(data, cluster=cluster, **settings)
            self.insights.watch(self.run, [row.name for row in model.summary() if row.parameters])
            self._show(self.run.state)
            await self._follow(self.run)
            self._show(self.run.state)
            if self._ended:
                self._ended()
        except Exception as error:
            self.message.say(error)
            self._show("ready")
        finally:
            self.busy = False
            self._enable()

    async def _follow(self, run):
        live = Live(run, screen=self.pane).start()
        shown = run.state
        while not run.done:
            await asyncio.sleep(0.05)
            if run.state != shown and not self._stopping:
                shown = run.state
                self._show(shown)
        if live.task is not None:
            await live.task
        live.close()

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

    def _show_rate(self, optimizer):
        rate = getattr(optimizer.lr, "arguments", None)  # of a schedule
        self.lr.value = rate.args[0] if rate and rate.args else optimizer.lr if isinstance(optimizer.lr, float | int) else 0.0

    def _say(self, text):
        if text:
            self.state.value = faint(text)

    def _show(self, state):
        self.state.value = faint(state)
        self._enable()

    def _enable(self):
        running = self.run is not None and not self.run.done
        self.train_button.disabled = self.busy
        for control in (self.stop_button, self.pause_button, self.step_button, self.lr, self.lr_button):
            control.disabled = not running
        self.pause_button.description = "Resume" if running and self.run.state == "paused" else "Pause"
