"""`TrainingBar`: the buttons that begin, steer and end a run, and what they have to say."""

import ipywidgets as widgets

from ..plots.phase_words import MEANING
from .looks import Message, button, faint
from .once import OTHER
from .phase_page import phase_page

STOP_TIP = "end after the step that is under way, with what was trained so far"
PHASE_TIP = f"one phase of a step, then pause: {', '.join(MEANING)}"


class TrainingBar:
    """A row of buttons, and below it what went wrong and which phase of a step was done last.

    Parameters
    ----------
    does : object
        Has `train`, `stop`, `pause`, `step`, `step_phase` and `set_lr`, which the buttons call.

    Attributes
    ----------
    box : Widget
    message : Message
    rate : ipywidgets.FloatText
        The learning rate to be set.
    """

    def __init__(self, does):
        self.train = button("Train", does.train, "train what is built here", "success").add_class("dtnn-train")
        self.stop = button("Stop", does.stop, STOP_TIP).add_class("dtnn-stop")
        self.pause = button("Pause", does.pause, "all ranks after the same step", within=OTHER).add_class("dtnn-pause")
        self.step = button("Step", does.step, "one step, or the rest of one, then pause").add_class("dtnn-step")
        self.one_phase = button("Phase", does.step_phase, PHASE_TIP).add_class("dtnn-step-phase")
        self.rate = widgets.FloatText(layout={"width": "90px"}, tooltip="the learning rate from now on").add_class("dtnn-lr")
        self.set_rate = button("set rate", does.set_lr, "use this learning rate from the next step on").add_class("dtnn-set-lr")
        self.state, self.phases = widgets.HTML().add_class("dtnn-state"), widgets.HTML(layout={"display": "none"})
        self.phases.add_class("dtnn-phase")
        self.message = Message()
        steps = self.train, self.pause, self.step, self.one_phase, self.stop
        tools = widgets.HBox([*steps, self.rate, self.set_rate, self.state], layout={"flex_flow": "row wrap"})
        self.box = widgets.VBox([tools, self.message.box, self.phases], layout={"min_width": "0"})
        self.box.add_class("dtnn-bar").add_class("dtnn-training")

    def show(self, state, run, busy):
        """A word on how it stands, and the buttons that go with it."""
        running = run is not None and not run.done
        self.train.disabled = busy  # first the buttons: who reads that it has ended may click
        for control in (self.stop, self.pause, self.step, self.one_phase, self.rate, self.set_rate):
            control.disabled = not running
        self.pause.description = "Resume" if running and run.state == "paused" else "Pause"
        self.state.value = faint(state)

    def say(self, text):
        """How it goes on; "" leaves what is said."""
        if text:
            self.state.value = faint(text)

    def show_rate(self, optimizer):
        """The learning rate that an optimizer begins with."""
        arguments = getattr(optimizer.lr, "arguments", None)  # of a schedule
        plain = optimizer.lr if isinstance(optimizer.lr, float | int) else 0.0
        self.rate.value = arguments.args[0] if arguments and arguments.args else plain

    def show_phase(self, phase):
        """Which phase of a step was done last, where the run waits for the next one."""
        page = "" if phase is None else phase_page(phase)
        if self.phases.value != page:
            self.phases.value, self.phases.layout.display = page, "" if page else "none"
