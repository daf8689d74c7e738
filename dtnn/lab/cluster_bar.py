"""`ClusterBar`: the buttons that start, stop and examine a cluster, and how that goes."""

import html

import ipywidgets as widgets

from .launch_form import WRAP
from .looks import button, faint


class ClusterBar:
    """A row of buttons.

    Parameters
    ----------
    does : object
        Has `start`, `stop`, `restart` and `doctor`, which the buttons call.
    """

    def __init__(self, does):
        self.start = button("start", does.start, "start the ranks", "success").add_class("dtnn-start")
        self.stop = button("stop", does.stop, "end them, whatever they do").add_class("dtnn-stop")
        self.restart = button("restart", does.restart, "end them and start new ones").add_class("dtnn-restart")
        self.doctor = button("doctor", does.doctor, "what is installed, and what is wrong").add_class("dtnn-doctor")
        self.state = widgets.HTML().add_class("dtnn-state")
        self.box = widgets.HBox([self.start, self.stop, self.restart, self.doctor, self.state], layout=WRAP)

    def say(self, text):
        """How it goes; "" is nothing."""
        self.state.value = faint(html.escape(text)) if text else ""

    def enable(self, cluster, busy):
        """The buttons that make sense for a cluster, or none, of which one is at work."""
        self.start.disabled = busy or (cluster is not None and cluster.state == "running")
        self.stop.disabled = busy or cluster is None or cluster.state == "stopped"
        self.restart.disabled = busy or cluster is None
        self.doctor.disabled = busy
