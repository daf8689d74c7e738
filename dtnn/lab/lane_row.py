"""`LaneRow`: the head of a row of layers inside of a layer: a Residual's body, a Concatenate's branch."""

import html

import ipywidgets as widgets

from .layer_row import facts, indented
from .looks import button, faint
from .once import OTHER

EMPTY = "empty: what comes in goes out"


class LaneRow:
    """Its name, what comes out of it, and what can be done: a layer more in it; of branches another one, or one less.

    Parameters
    ----------
    act : callable
        Called with the name of an action and the path of the lane.
    """

    def __init__(self, act):
        self.path = None
        self.name, self.facts = widgets.HTML(layout={"margin": "0"}), widgets.HTML(layout={"margin": "0"})
        self.name.add_class("dtnn-lane-name")
        self.facts.add_class("dtnn-facts")

        def does(name):
            return lambda: act(name, self.path)

        self.add = button("add here", does("add"), "add the layer that is chosen above at the end of this row", within=OTHER)
        self.more = button("+ branch", does("branch"), "another branch behind this one", within=OTHER)
        self.less = button("✕", does("remove"), "take this branch out", within=OTHER, width="28px")
        for control, name in ((self.add, "here"), (self.more, "branch"), (self.less, "remove")):
            control.add_class(f"dtnn-{name}")
        self.head = widgets.HBox([])
        self.box = widgets.VBox([self.head]).add_class("dtnn-layer").add_class("dtnn-lane")

    def show(self, place, empty):
        """Show a `Place` of a lane; whether it has no layer."""
        self.path, row = place.path, place.row
        self.name.value = f'<span class="dtnn-faint"><b>{html.escape(row.name)}</b></span>'
        self.facts.value = faint(EMPTY) if empty else facts(row, place.known)
        tools = (self.add, self.more, self.less) if place.several else (self.add,)
        if self.head.children != (self.name, self.facts, *tools):
            self.head.children = (self.name, self.facts, *tools)
        indented(self.box, place)
