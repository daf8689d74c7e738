"""`LayerRow`: one layer in the builder's list."""

import html

import ipywidgets as widgets

from .looks import button, faint


class LayerRow:
    """A button with the layer's call, what it makes and costs, and what can be done with it; the opened one has a form below.

    Parameters
    ----------
    index : int
        Its place in the list, which stays: rows are re-used for whatever layer stands there.
    act : callable
        Called with the name of an action and the index.
    """

    def __init__(self, index, act):
        self.call = button("", lambda: act("open", index), "change it", flex="1 1 auto", max_width="360px").add_class("dtnn-call")
        self.facts = widgets.HTML(layout={"margin": "0 4px 0 14px"})
        tools = [
            button(sign, lambda name=name: act(name, index), tip, width="26px").add_class(f"dtnn-{name}")
            for sign, name, tip in (
                ("↑", "up", "move up"),
                ("↓", "down", "move down"),
                ("⧉", "duplicate", "the same once more"),
                ("✕", "remove", "take it out"),
            )
        ]
        self.head = widgets.HBox([self.call, *tools])
        self.box = widgets.VBox([self.head, self.facts], layout={"margin": "0"}).add_class("dtnn-layer")

    def show(self, row, form=None):
        """Show a `Row`, and the form of its layer below it if it is the opened one."""
        self.call.description = shortened(row.call)
        self.call.tooltip = row.call
        self.call.button_style = "danger" if row.error else "info" if form else ""
        self.facts.value = facts(row)
        children = (self.head, self.facts, form.box) if form else (self.head, self.facts)
        if self.box.children != children:
            self.box.children = children


def facts(row):
    """What a layer makes and costs, or what is wrong with it, as HTML."""
    if row.error:
        return f'<div class="dtnn-wrong">{html.escape(row.error)}</div>'
    if row.shape is None:
        return faint("behind the misfit")
    parts = ["→ " + " × ".join(map(str, row.shape))]
    if row.parameters:
        parts += [f"{row.parameters:,} parameters", f"{amount(row.bytes)}B gradient"]
    if row.flops:
        parts.append(f"{amount(row.flops)}FLOP")
    return faint(" · ".join(parts))


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
