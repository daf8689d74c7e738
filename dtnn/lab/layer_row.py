"""`LayerRow`: one layer in the builder's list."""

import html

import ipywidgets as widgets

from .arguments import laid_out
from .looks import Message, button, faint

TITLE = "output shape · parameters · bytes of their gradient, sent in each step · operations of the forward of one sample"


class LayerRow:
    """A button with the layer's call, what it makes and costs, and what can be done with it; the opened one has a form below, and
    what its class says of itself; one made of other layers is shown as code there, which can be changed.

    Parameters
    ----------
    index : int
        Its place in the list, which stays: rows are re-used for whatever layer stands there.
    act : callable
        Called with the name of an action and the index, and for "code" with the new call.
    """

    def __init__(self, index, act):
        self.call = button("", lambda: act("open", index), "change it").add_class("dtnn-call")
        self.facts = widgets.HTML(layout={"margin": "0"}).add_class("dtnn-facts")
        self.wrong, self.told = Message(), Message()
        self.words = widgets.HTML(layout={"margin": "0 0 0 12px"}).add_class("dtnn-words")
        self.code = widgets.Textarea(continuous_update=False, layout={"width": "96%", "margin": "2px 0 2px 12px"})
        self.code.add_class("dtnn-code").observe(lambda _: self._quiet or act("code", index, self.code.value), "value")
        self._quiet, self._laid_out = False, ""
        tools = [
            button(sign, lambda name=name: act(name, index), tip, width="28px").add_class(f"dtnn-{name}")
            for sign, name, tip in (
                ("↑", "up", "move up"),
                ("↓", "down", "move down"),
                ("+", "duplicate", "the same once more"),
                ("✕", "remove", "take it out"),
            )
        ]
        self.head = widgets.HBox([self.call, self.facts, *tools])
        self.box = widgets.VBox([self.head, self.wrong.box], layout={"margin": "0"}).add_class("dtnn-layer")

    def show(self, row, form=None, words="", as_code=False):
        """Show a `Row`, and if it is the opened one, the form of its layer, what it says of itself, and it as code."""
        self.call.description = shortened(row.call)
        self.call.tooltip = f"{row.call}\n{words}" if words else row.call
        self.call.button_style = "danger" if row.error else ""
        (self.call.add_class if form else self.call.remove_class)("dtnn-opened")
        self.facts.value = facts(row)
        self.wrong.say(row.error)
        children = [self.head, self.wrong.box]
        if form:
            self.words.value = faint(html.escape(words))
            children += [self.words, *([self.code] if as_code else []), form.box, self.told.box]
        else:
            self.told.say("")
        self._show_code(row.call if form and as_code else "")
        if self.box.children != tuple(children):
            self.box.children = children

    def _show_code(self, call):
        """The call on several lines; what was typed and is no layer stays to be mended."""
        text = laid_out(call) if call else ""
        if text == self._laid_out:
            return
        self._quiet, self._laid_out = True, text
        try:
            self.code.value, self.code.rows = text, min(16, 1 + text.count("\n"))
        finally:
            self._quiet = False


def facts(row):
    """What a layer makes and costs, as HTML."""
    if row.error or row.shape is None:
        return faint("does not fit" if row.error else "behind the misfit")
    parts = [" × ".join(map(str, row.shape))]
    if row.parameters:
        parts += [f"{row.parameters:,}", f"{amount(row.bytes)}B"]
    if row.flops:
        parts.append(f"{amount(row.flops)}FLOP")
    parts = [part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts]  # a line ends between two facts, never within one
    return f'<span class="dtnn-faint" title="{TITLE}">{" · ".join(parts)}</span>'


def amount(number):
    """A number with a prefix, and room for its unit.

    >>> amount(246_824), amount(12), amount(3_400_000)
    ('247 k', '12 ', '3.4 M')
    """
    for size, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {prefix}"
    return f"{number} "


def shortened(call, most=46):
    """A call in at most so many letters."""
    return call if len(call) <= most else call[: most - 1] + "…"
