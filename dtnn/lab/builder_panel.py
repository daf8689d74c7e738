"""`BuilderPanel`: the builder with buttons."""

import math

import ipywidgets as widgets

from .. import zoo
from ..plots.network import network
from ..plots.screens import after_each_cell
from .builder import Builder
from .layer_list import LayerList
from .layer_row import amount
from .looks import Message, button, faint, style, title
from .panel import Panel, namespace
from .sheet import Sheet

FIRST = ("Conv2d", "Linear", "ReLU", "MaxPool2d", "Flatten", "BatchNorm2d", "Dropout")  # what is wanted most

DRAWING = (560, 300)  # pixels: about as many as the builder is wide on a page of 1,000, so that letters are as large as drawn


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
        self._code = ""
        self._make()
        self._leave = after_each_cell(self._after_cell)
        self.show()

    def _make(self):
        self.presets = widgets.Dropdown(options=[("preset …", "")] + [(n, n) for n in zoo.__all__], layout={"width": "110px"})
        self.presets.add_class("dtnn-preset").observe(self._preset, "value")
        self.kinds = widgets.Dropdown(options=self._kinds(), layout={"width": "150px"}).add_class("dtnn-kind")
        self.list = LayerList(self.builder, self.edit, lambda: self.kinds.value)
        self.undo = button("↶", lambda: self._do(self.builder.undo), "undo", width="30px").add_class("dtnn-undo")
        self.redo = button("↷", lambda: self._do(self.builder.redo), "redo", width="30px").add_class("dtnn-redo")
        clear = button("clear", lambda: self._do(self.builder.clear), "take all layers out").add_class("dtnn-clear")
        tools = widgets.HBox(
            [self.kinds, self.list.add_button, self.undo, self.redo, clear, self.presets], layout={"flex_flow": "row wrap"}
        )
        self.message, self.total = Message(), widgets.HTML().add_class("dtnn-total")
        self.head = widgets.HTML(faint("layer: output shape · parameters · gradient a step · forward of one sample"))
        self.text = widgets.Textarea(layout={"width": "99%", "height": "260px"}, continuous_update=True).add_class("dtnn-code")
        read = button("read this code", self._paste, "take the network over from the text above").add_class("dtnn-read")
        note = widgets.HTML(faint("Copy it out, or paste a <code>Model(...)</code> here. It is read, never executed."))
        code = widgets.VBox([self.text, read, note])
        self.sheet = Sheet(*DRAWING)
        self.tabs = widgets.Tab(
            [widgets.VBox([self.head, self.list.box]), self.sheet.image, code], titles=("layers", "drawing", "Python")
        )
        self.tabs.observe(lambda _: self._draw(), "selected_index")
        self.box = widgets.VBox([style(), title("Network"), tools, self.message.box, self.tabs, self.total])
        self.box.add_class("dtnn-panel").add_class("dtnn-builder")

    # ---- edits

    def edit(self, do, *arguments, said=None, **moved):
        """One edit that leaves open what is open, wherever it is then; whether it could be done."""
        return self._do(do, *arguments, said=said, then=lambda: self.list.seen.edited(**moved))

    def _do(self, edit, *arguments, said=None, then=None):
        """One edit; what is wrong with it is said above the list, or at `said`, and nothing has changed then."""
        said, before, seen = said or self.message, self.builder.state, self.list.seen
        try:
            edit(*arguments)
        except Exception as error:
            said.say(error)
            self.show(quiet=True)
            return False
        seen.keep(before)
        if then is not None:
            then()
        else:
            seen.recall(self.builder.state)
        self.message.say("")
        said.say("")
        self.show()
        if self.changed:
            self.changed()
        return True

    def _preset(self, change):
        if change["new"]:
            self._do(self.builder.preset, change["new"], self.classes)
            self.presets.value = ""

    def _paste(self):
        self._do(self.builder.paste, self.text.value)

    def take(self, model):
        """Show another model's layers."""
        self._do(self.builder.take, model)

    # ---- what is seen

    def show(self, quiet=False):
        """Bring everything up to date; with `quiet` Python in which somebody has typed is left alone."""
        rows = self.builder.check()
        self.list.show()
        self.head.layout.display = "" if rows else "none"
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

    def _sums(self, rows):
        shape = " × ".join(map(str, self.builder.input_shape))
        if not rows:
            return faint(f"input {shape}")
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
