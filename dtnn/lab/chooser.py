"""`Chooser`: one of several functions or classes, with a form for what the chosen one can be told."""

import html
import inspect

import ipywidgets as widgets

from . import calls
from .fields import one_line
from .form import Form
from .looks import Message, faint


class Chooser:
    """A choice by name, the first words of what was chosen, and its `Form`.

    Parameters
    ----------
    name : str
        What is chosen: "optimizer".
    known : dict
        What there is, by name: functions and classes; None stands for nothing, an object for itself, both without a form.
    sources : dict
        For some names the values to begin with, as Python.
    skip : sequence of str
        Parameters that no form shows.
    changed : callable
        Called without arguments after every change.

    Examples
    --------
    >>> from dtnn import optim
    >>> chooser = Chooser("optimizer", {"SGD": optim.SGD, "Adam": optim.Adam}, {"SGD": {"lr": "0.05", "momentum": "0.9"}})
    >>> chooser.source
    'SGD(lr=0.05, momentum=0.9)'
    """

    names = {}  # what may be named in the form's lines of Python without being called

    def __init__(self, name, known, sources=None, skip=(), changed=None):
        self.known, self._sources, self._skip, self._changed = known, sources or {}, skip, changed
        self.choice = widgets.Dropdown(options=list(known), layout={"width": "150px"}).add_class(f"dtnn-{name}")
        head = widgets.HTML(f'<span class="dtnn-title">{name}</span>', layout={"width": "116px", "flex": "0 1 116px"})
        self.words, self.place, self.form = widgets.HTML(layout={"margin": "0 0 0 14px"}), widgets.VBox(), None
        self.wrong = Message()
        self.box = widgets.VBox([widgets.HBox([head, self.choice]), self.words, self.place, self.wrong.box])
        self.choice.observe(self._chosen, "value")
        self._chosen(None)

    @property
    def sources(self):
        """The arguments that are given, as Python, by name."""
        return self.form.sources if self.form else {}

    @property
    def calls(self):
        """The classes among what there is, by name: what may be called in a source."""
        return {name: thing for name, thing in self.known.items() if isinstance(thing, type)}

    @property
    def source(self):
        """The call, as Python; "" where nothing is chosen."""
        if self.form is None:
            return "" if self.known[self.choice.value] is None else self.choice.value
        return f"{self.choice.value}({', '.join(f'{name}={text}' for name, text in self.sources.items())})"

    def check_form(self, before=""):
        """Say below the form what is wrong with the values in it, and mark them; returns whether all is right.

        Parameters
        ----------
        before : str
            Arguments that no form shows, as Python.
        """
        has_settings = self.form is not None and bool(self.form.controls)
        error = self._error(before, self.sources) if has_settings else None
        if has_settings:
            needed = {name: text for name, text in self.sources.items() if self.form.fields[name].needed}
            alone = {name: self._error(before, {**needed, name: text}) for name, text in self.sources.items() if error}
            self.form.mark([name for name, wrong in alone.items() if wrong])
        self.wrong.say(error or "")
        return error is None

    def _error(self, before, sources):
        """What a call with these arguments raises; None if nothing."""
        arguments = [*([before] if before else []), *(f"{name}={text}" for name, text in sources.items())]
        known = {name: thing for name, thing in self.known.items() if thing is not None}
        try:
            for text in sources.values():
                calls.parsed(text, "eval")
            calls.read(f"{self.choice.value}({', '.join(arguments)})", known, self.names)
        except Exception as error:
            return error
        return None

    def _chosen(self, _):
        thing = self.known[self.choice.value]
        if thing is None:
            self.form, self.place.children, self.words.value = None, (), ""
        elif not (inspect.isclass(thing) or inspect.isroutine(thing)):
            self.form, self.place.children, self.words.value = None, (), faint(html.escape(_sentence(repr(thing))))
        else:
            self.form = Form(thing, self._sources.get(self.choice.value), self._told, self._skip)
            self.place.children, self.words.value = (self.form.box,), faint(_sentence(one_line(thing)))
        self._told()

    def _told(self, *_):
        if self._changed:
            self._changed()


def _sentence(text, most=150):
    return text if len(text) <= most else text[: most - 1] + "…"
