"""`LayerRow`: one layer in the builder's list."""

import html

import ipywidgets as widgets

from .calls import called, parsed
from .looks import Message, button, faint
from .once import OTHER, REPEAT

TITLE = "output shape · parameters · bytes of their gradient, sent in each step · operations of the forward of one sample"
INDENT = 11  # pixels for each layer that a layer is in, and for each lane


class LayerRow:
    """A button with the layer's call, what it makes and costs, and what can be done with it; the opened one has a form below, and
    what its class says of itself.

    Parameters
    ----------
    act : callable
        Called with the name of an action and the path of the layer. Rows are re-used for whatever layer stands there.
    """

    def __init__(self, act):
        self.path = None

        def does(name):
            return lambda: act(name, self.path)

        self.call = button("", does("open"), "change it", within=OTHER).add_class("dtnn-call")
        self.facts = widgets.HTML(layout={"margin": "0"}).add_class("dtnn-facts")
        self.wrong, self.told = Message(), Message()
        self.words = widgets.HTML(layout={"margin": "0 0 0 12px"}).add_class("dtnn-words")
        tools = [
            button(sign, does(name), tip, within=REPEAT if name == "duplicate" else OTHER, width="28px").add_class(f"dtnn-{name}")
            for sign, name, tip in (
                ("↑", "up", "move up; out of what it is in, or into what stands unfolded above it"),
                ("↓", "down", "move down; out of what it is in, or into what stands unfolded below it"),
                ("+", "duplicate", "the same once more"),
                ("✕", "remove", "take it out"),
            )
        ]
        self.head = widgets.HBox([self.call, self.facts, *tools])
        self.box = widgets.VBox([self.head, self.wrong.box]).add_class("dtnn-layer")

    def show(self, place, form=None, words="", misfit=""):
        """Show a `Place`, what does not fit there, and if it is the opened one, its form and what its class says of itself."""
        self.path, row = place.path, place.row
        self.call.description = shown(place)
        self.call.tooltip = f"{row.call}\n{words}" if words else row.call
        self.call.button_style = "danger" if row.error else ""
        (self.call.add_class if form else self.call.remove_class)("dtnn-opened")
        self.facts.value = faint("does not fit inside") if row.error and not misfit else facts(row, place.known)
        self.wrong.say(misfit)
        children = [self.head, self.wrong.box]
        if form:
            self.words.value = faint(html.escape(words))
            children += [self.words, form.box, self.told.box]
        else:
            self.told.say("")
        if self.box.children != tuple(children):
            self.box.children = children
        indented(self.box, place)


def indented(box, place):
    """Move a box to the right by how deep its place is."""
    margin = f"0 0 0 {INDENT * (len(place.path) - 1)}px"
    if box.layout.margin != margin:
        box.layout.margin = margin


def shown(place):
    """A layer's call, short; of one whose inside is seen below, its name."""
    call = place.row.call
    if not place.holds:
        return shortened(call)
    return f"▾ {called(parsed(call, 'eval').body)}" if place.seen else f"▸ {shortened(call)}"


def facts(row, known=True):
    """What a layer makes and costs, as HTML."""
    if row.error or row.shape is None:
        inner = "what comes in is up to the layer around it"
        return faint("does not fit" if row.error else "behind the misfit" if known else inner)
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
