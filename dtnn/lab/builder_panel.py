"""`BuilderPanel`: the builder with buttons."""

import math

import ipywidgets as widgets

from .. import zoo
from ..plots.network import network
from ..plots.screens import after_each_cell
from .arguments import with_layers
from .builder import Builder
from .calls import called, parsed
from .fields import one_line
from .form import Form
from .layer_row import LayerRow, amount
from .looks import Message, button, faint, style, title
from .panel import Panel, namespace
from .sheet import Sheet

FIRST = ("Conv2d", "Linear", "ReLU", "MaxPool2d", "Flatten", "BatchNorm2d", "Dropout")  # what is wanted most


class BuilderPanel(Panel):
    """A list of layers that is edited by clicks, its drawing, and the Python that it stands for.

    Parameters
    ----------
    model : Model, optional
        To begin with.
    changed : callable, optional
        Called without arguments after each edit.

    Attributes
    ----------
    builder : Builder
    """

    def __init__(self, model=None, changed=None, names=None):
        self.builder = Builder(model, namespace() if names is None else names)
        self.changed, self.classes = changed, 10
        self._rows, self._open, self._form, self._form_key, self._code = [], None, None, None, ""
        self._make()
        self._leave = after_each_cell(self._after_cell)
        self.show()

    def _make(self):
        self.presets = widgets.Dropdown(options=[("preset …", "")] + [(n, n) for n in zoo.__all__], layout={"width": "110px"})
        self.presets.add_class("dtnn-preset").observe(self._preset, "value")
        self.kinds = widgets.Dropdown(options=self._kinds(), layout={"width": "150px"}).add_class("dtnn-kind")
        add = button("add", self._add, "add this layer behind the opened one, or at the end", "primary").add_class("dtnn-add")
        self.undo = button("↶", lambda: self._do(self.builder.undo), "undo", width="30px").add_class("dtnn-undo")
        self.redo = button("↷", lambda: self._do(self.builder.redo), "redo", width="30px").add_class("dtnn-redo")
        clear = button("clear", lambda: self._do(self.builder.clear), "take all layers out").add_class("dtnn-clear")
        tools = widgets.HBox([self.kinds, add, self.undo, self.redo, clear, self.presets], layout={"flex_flow": "row wrap"})
        self.message, self.total = Message(), widgets.HTML().add_class("dtnn-total")
        self.list = widgets.VBox([], layout={"max_height": "460px", "overflow": "hidden auto", "margin": "4px 0"})
        self.list.add_class("dtnn-layers")
        head = widgets.HTML(faint("layer: output shape · parameters · gradient a step · forward of one sample"))
        self.text = widgets.Textarea(layout={"width": "99%", "height": "260px"}, continuous_update=True).add_class("dtnn-code")
        read = button("read this code", self._paste, "take the network over from the text above").add_class("dtnn-read")
        note = widgets.HTML(faint("Copy it out, or paste a <code>Model(...)</code> here. It is read, never executed."))
        code = widgets.VBox([self.text, read, note])
        self.sheet = Sheet(900, 260)
        self.tabs = widgets.Tab([widgets.VBox([head, self.list]), self.sheet.image, code], titles=("layers", "drawing", "Python"))
        self.tabs.observe(lambda _: self._draw(), "selected_index")
        self.box = widgets.VBox([style(), title("Network"), tools, self.message.box, self.tabs, self.total])
        self.box.add_class("dtnn-panel").add_class("dtnn-builder")

    # ---- edits

    def _do(self, edit, *arguments, place=None):
        """One edit; what is wrong with it is said above the list, or at `place`, and nothing has changed then."""
        place = place or self.message
        try:
            edit(*arguments)
        except Exception as error:
            place.say(error)
            self.show(quiet=True)
            return
        self.message.say("")
        place.say("")
        self.show()
        if self.changed:
            self.changed()

    def _add(self):
        place = len(self.builder.calls) if self._open is None else self._open + 1
        self._do(self.builder.add, self.kinds.value, place)
        if self._open is not None and not self.message.text:
            self._open = place
            self.show(quiet=True)

    def _preset(self, change):
        if change["new"]:
            self._open = None
            self._do(self.builder.preset, change["new"], self.classes)
            self.presets.value = ""

    def _paste(self):
        self._open = None
        self._do(self.builder.paste, self.text.value)

    def _act(self, name, index, text=""):
        if index >= len(self.builder.calls):
            return  # a second click on a row that has gone
        if name == "code":
            self._do(self.builder.replace, index, text, place=self._rows[index].told)
            return
        if name == "open":
            self._open = None if self._open == index else index
            self.show(quiet=True)
            return
        last, opened = len(self.builder.calls) - 1, self._open
        to = {"up": max(0, index - 1), "down": min(last, index + 1)}.get(name)
        self._open = None if name in ("remove", "duplicate") else to if opened == index else opened
        self._do(*(self.builder.move, index, to) if to is not None else (getattr(self.builder, name), index))

    def _change(self, name, source):
        self._do(self.builder.change, self._open, name, source, place=self._rows[self._open].told)

    def take(self, model):
        """Show another model's layers."""
        self._do(self.builder.take, model)

    # ---- what is seen

    def show(self, quiet=False):
        """Bring everything up to date; with `quiet` Python in which somebody has typed is left alone."""
        rows = self.builder.check()
        while len(self._rows) < len(rows):
            self._rows.append(LayerRow(len(self._rows), self._act))
        if self._open is not None and self._open >= len(rows):
            self._open = None
        for index, row in enumerate(rows):
            cls, opened = self._class_of(row.call), index == self._open
            parts = with_layers(row.call, self.builder.vocabulary.known()) if opened else []
            self._rows[index].show(
                row, self._opened_form(cls, parts) if opened else None, one_line(cls) if cls else "", bool(parts)
            )
        boxes = tuple(row.box for row in self._rows[: len(rows)])
        if self.list.children != boxes:
            self.list.children = boxes
        self.undo.disabled, self.redo.disabled = not self.builder.can_undo, not self.builder.can_redo
        self.total.value = self._sums(rows)
        self._draw()
        if not quiet or self.text.value == self._code:
            self.text.value = self._code = self.builder.code() if rows else ""

    def _draw(self):
        """The drawing, where somebody looks at it."""
        rows = self.builder.check()
        if self.tabs.selected_index == 1 and rows:
            shape = self.builder.input_shape
            network(rows, (*shape[-1:], *shape[:-1]), self.sheet.whole())
            self.sheet.show()

    def _class_of(self, call):
        """The class of a layer in the list; None where there is none of that name any more."""
        return self.builder.vocabulary.known().get(called(parsed(call, "eval").body))

    def _opened_form(self, cls, parts):
        """The form of the opened layer, without the arguments that are code: a new one only where class or place is another."""
        if cls is None:
            return None
        if self._form_key != (self._open, cls, parts):
            self._form, self._form_key = Form(cls, changed=self._change, skip=parts), (self._open, cls, parts)
        self._form.set(self.builder.arguments(self._open))
        return self._form

    def _sums(self, rows):
        shape = " × ".join(map(str, self.builder.input_shape))
        if not rows:
            return faint(f"input {shape} · add a layer, or choose a preset")
        parts = [f"input {shape}", f"<b>{sum(row.parameters for row in rows):,}</b> parameters"]
        parts += [f"{amount(sum(row.bytes for row in rows))}B of gradient a step"]
        parts += [f"{amount(sum(row.flops or 0 for row in rows))}FLOP forward a sample"]
        parts += [f"{amount(4 * sum(math.prod(row.shape) for row in rows if row.shape))}B of activations a sample"]
        return faint(" · ".join(parts))

    def _kinds(self):
        known = self.builder.vocabulary.known()
        own = [name for name in known if known[name].__module__ == "__main__"]
        rest = sorted((name for name in known if name not in FIRST and name not in own), key=str.lower)
        return [(f"{name} (yours)", name) for name in own] + [(name, name) for name in (*FIRST, *rest)]

    def _after_cell(self, *_):
        """A cell may have defined a layer, or defined one anew."""
        options = self._kinds()
        if list(self.kinds.options) != options:
            chosen = self.kinds.value
            self.kinds.options = options
            self.kinds.value = chosen if chosen in dict(options).values() else options[0][1]
        self.show(quiet=True)

    def close(self):
        """Take it away."""
        self._leave()
        super().close()

    def png(self):
        """The drawing."""
        rows, shape = self.builder.check(), self.builder.input_shape
        if not rows:
            return None
        sheet = Sheet(900, 260)
        network(rows, (*shape[-1:], *shape[:-1]), sheet.whole())
        sheet.show()
        return sheet.png

    def words(self):
        """The layers as text."""
        rows = self.builder.check()
        lines = [f"{row.call:40} {row.error or row.shape or ''}" for row in rows]
        return "\n".join([f"Network, input {self.builder.input_shape}", *lines])
