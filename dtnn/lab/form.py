"""`Form`: controls for the parameters of a function or a class, made from its signature and docstring."""

import html

import ipywidgets as widgets

from .fields import fields

NARROW = {"width": "106px"}


class Form:
    """A control for each parameter: a box to tick, a number within its range, a choice, or a line of Python.

    Parameters
    ----------
    function : callable
    sources : dict, optional
        Values to begin with, as Python, by the parameter's name; what is not there has its default.
    changed : callable, optional
        Called with name and source when the user has changed one.
    skip : sequence of str
        Parameters to leave out.

    Attributes
    ----------
    box : ipywidgets.VBox
    controls : dict
        The controls by name.

    Examples
    --------
    >>> from dtnn.nn import Conv2d
    >>> form = Form(Conv2d, {"channels": "6", "kernel_size": "5"})
    >>> form.controls["groups"].value = 2
    >>> form.sources
    {'channels': '6', 'kernel_size': '5', 'groups': '2'}
    """

    def __init__(self, function, sources=None, changed=None, skip=()):
        self.fields = {field.name: field for field in fields(function, skip)}
        self._changed, self._quiet = changed, False
        self.controls = {name: control(field) for name, field in self.fields.items()}
        self.set(sources or {})
        for name, widget in self.controls.items():
            widget.observe(self._noticed(name), "value")
        rows = [widgets.HBox([label(self.fields[name]), widget]) for name, widget in self.controls.items()]
        self.box = widgets.VBox(rows).add_class("dtnn-form")

    @property
    def sources(self):
        """What differs from the defaults, as Python, by name."""
        given = {name: source(field, self.controls[name].value) for name, field in self.fields.items()}
        return {name: text for name, text in given.items() if text and text != written(self.fields[name])}

    def set(self, sources):
        """Show these values, and the defaults of all others; `changed` is not called."""
        self._quiet = True
        try:
            for name, field in self.fields.items():
                show(self.controls[name], field, sources.get(name, written(field)))
        finally:
            self._quiet = False

    def mark(self, names):
        """Show the values of these as wrong, and no others."""
        for name, widget in self.controls.items():
            (widget.add_class if name in names else widget.remove_class)("dtnn-bad")

    def offer(self, name, options):
        """Other options, pairs of label and value, for a choice; what is chosen stays, or becomes the default."""
        control, field = self.controls[name], self.fields[name]
        values = [value for _, value in options]
        if list(control.options) == list(options):
            return
        chosen, self._quiet = control.value, True
        try:
            control.options = options
            control.value = chosen if chosen in values else field.default
        finally:
            self._quiet = False

    def _noticed(self, name):
        def noticed(change):
            if self._changed and not self._quiet:
                text = source(self.fields[name], change["new"])
                self._changed(name, text or written(self.fields[name]))

        return noticed


def control(field):
    """The widget for a field."""
    common = {"layout": NARROW, "tooltip": field.help}
    if field.kind == "flag":
        return widgets.Checkbox(indent=False, layout=NARROW, tooltip=field.help)
    if field.kind == "choice":
        return widgets.Dropdown(options=field.choices, **common)
    if field.kind == "whole":
        return widgets.BoundedIntText(min=field.low or 0, max=10**9, value=field.low or 0, **common)
    if field.kind == "number":
        bounds = {"min": -1e300, "max": 1e300} if field.high is None else {"min": field.low, "max": field.high, "step": 0.05}
        return widgets.BoundedFloatText(**bounds, **common)
    return widgets.Text(continuous_update=False, placeholder=written(field) or "needed", **common)


def label(field):
    """The name; what the docstring says of it appears where the mouse rests."""
    title = html.escape(field.help or field.name, quote=True)
    text = f'<span class="dtnn-label" title="{title}">{html.escape(field.name)}</span>'
    return widgets.HTML(text, layout={"width": "92px", "flex": "0 0 92px", "margin": "2px"})


def written(field):
    """The default, as Python; "" where there is none, or none that can be written."""
    text = "" if field.needed or field.starred else repr(field.default)
    return "" if text.startswith("<") else text


def source(field, value):
    """A control's value, as Python."""
    return value.strip() if field.kind == "code" else repr(value)


def show(widget, field, text):
    """Set a control to what Python says; what it can't show (a name in place of a number) stays as it is."""
    if field.kind == "code":
        widget.value = text
        return
    try:
        value = {"flag": _flag, "choice": lambda t: t.strip("'\""), "whole": int, "number": float}[field.kind](text)
        if field.kind == "choice" and value not in _values(widget):
            widget.options = (*widget.options, value)
        widget.value = value
    except ValueError:
        pass


def _values(widget):
    """What can be chosen, without the labels."""
    return [option[1] if isinstance(option, tuple) else option for option in widget.options]


def _flag(text):
    return text == "True"
