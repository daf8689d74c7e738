"""`DataChooser`: which data set, and a look at it."""

import ipywidgets as widgets

from .. import data as sets
from .looks import Message, title
from .panel import namespace

BUNDLED = {
    "mnist5k: 5,000 digits": lambda: sets.mnist5k(),
    "synthetic: coloured squares, 32 x 32": lambda: sets.synthetic(),
    "circle: points in the plane": lambda: sets.toy2d.circle(),
    "xor: points in the plane": lambda: sets.toy2d.xor(),
    "gauss: points in the plane": lambda: sets.toy2d.gauss(),
    "spiral: points in the plane": lambda: sets.toy2d.spiral(),
}


class DataChooser:
    """A data set of dtnn's, or one of the user's own: a variable of the notebook that holds a `Dataset`.

    Parameters
    ----------
    data : Dataset, optional
        To begin with.
    changed : callable
        Called without arguments when another one was chosen.

    Attributes
    ----------
    data : Dataset
    """

    def __init__(self, data=None, changed=None, names=None):
        self._names, self._changed = namespace() if names is None else names, changed
        self._given = {} if data is None else {getattr(data, "name", "yours"): lambda: data}
        self.choice = widgets.Dropdown(options=self._options(), layout={"width": "270px"}).add_class("dtnn-data")
        self.look, self.message = widgets.HTML(layout={"max_width": "100%", "overflow": "auto"}), Message()
        self.box = widgets.VBox([widgets.HBox([title("data"), self.choice]), self.message.box, self.look])
        self.choice.observe(lambda _: self._choose(), "value")
        self._choose()

    def refresh(self):
        """A cell may have made a data set, or made one anew under the same name."""
        if list(self.choice.options) != self._options():
            chosen, self.choice.options = self.choice.value, self._options()
            if chosen in self.choice.options:
                self.choice.value = chosen
        chosen = self._names.get(self.choice.value)
        if chosen is not self.data and self.choice.value in self._own():
            self._choose()

    def _own(self):
        return [name for name, thing in list(self._names.items()) if _is_data(name, thing)]

    def _all(self):
        own = {name: lambda name=name: self._names[name] for name in self._own()}
        return {**self._given, **own, **BUNDLED}

    def _options(self):
        return list(self._all())

    def _choose(self):
        try:
            self.data = self._all()[self.choice.value]()
            self.look.value = self.data._repr_html_() if hasattr(self.data, "_repr_html_") else ""
            self.message.say("")
        except Exception as error:
            self.message.say(error)
            return
        if self._changed:
            self._changed()


def _is_data(name, thing):
    return isinstance(thing, sets.Dataset) and not name.startswith("_")
