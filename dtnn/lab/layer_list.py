"""`LayerList`: the layers of a builder one below the other, those inside of a layer below it when it is unfolded."""

import ipywidgets as widgets

from .calls import called, parsed
from .fields import one_line
from .form import Form
from .lane_row import LaneRow
from .lanes import lanes, parameters
from .layer_row import LayerRow, shortened
from .looks import button, faint
from .nested import neighbour, row_at
from .once import once
from .unfolding import Unfolding

ADD_TIP = "add this layer below the opened one, or at the end of the network"


class LayerList:
    """A row of widgets for each layer that is seen, and what a click on one of them does.

    Parameters
    ----------
    builder : Builder
    edit : callable
        ``edit(do, *arguments, said=None, taken=None, put=None)`` does an edit of the builder, shows what comes of it, and says in
        `said` what is wrong with it; returns whether it could be done.
    kind : callable
        Gives the name of the layer that is chosen to be added.

    Attributes
    ----------
    box : ipywidgets.VBox
    add_button : ipywidgets.Button
    rows : list of LayerRow or LaneRow
        What is seen now.
    seen : Unfolding
    """

    def __init__(self, builder, edit, kind):
        self.builder, self._edit, self._kind, self.seen, self.rows = builder, edit, kind, Unfolding(), []
        self._pools, self._misfit, self._form, self._form_key = {LayerRow: [], LaneRow: []}, None, None, None
        self._act = once(self._acted)  # one for all: after the first click something else may stand below the mouse
        self.add_button = button("add at end", self.add, ADD_TIP, "primary", min_width="88px").add_class("dtnn-add")
        self._empty = widgets.HTML(faint("No layer yet: choose one above and click <b>add at end</b>, or begin with a preset."))
        self.box = widgets.VBox([], layout={"max_height": "620px", "overflow": "hidden auto", "margin": "4px 0"})
        self.box.add_class("dtnn-layers")

    form = property(lambda self: self._form, doc="That of the opened layer.")

    # ---- clicks

    def add(self):
        """Add what is chosen behind the opened layer, or at the end; then it is the opened one."""
        opened, number = self.seen.opened, len(self.builder.calls)
        at = (number,) if opened is None else (*opened[:-1], opened[-1] + 1)
        if self._add(at) and opened is not None:
            self.seen.opened = at
            self.show()

    def _add(self, at):
        """Whether the chosen layer could be added there; what is in it is seen at once."""
        added = self._edit(self.builder.add, self._kind(), at, put=at)
        if added and lanes(self.builder.call(at), self._known()):
            self.seen.unfolded |= {at}
            self.show()
        return added

    def _acted(self, name, path):
        """What a button in a row is for."""
        place = next((place for place in self.places if place.path == path), None)
        if place is None:
            return  # a click on a row that has gone
        if name == "open":
            self.seen.click(path, place.holds)
            self.show()
        elif name in ("up", "down"):
            to = neighbour(self.builder.calls, path, name == "down", self._known(), self.seen.unfolded)
            self._edit(self.builder.move, path, to, taken=path, put=to)
        elif name == "add":
            self._add((*path, len(row_at(self.builder.calls, path, self._known()))))
        elif name == "remove":
            self._edit(self.builder.remove, path, taken=path)
        else:  # duplicate a layer; another branch
            behind = (*path[:-1], path[-1] + 1)
            self._edit(getattr(self.builder, name), path, put=behind)

    def _change(self, name, source):
        opened = self.seen.opened
        told = next((row.told for row in self.rows if row.path == opened), None)
        self._edit(self.builder.change, opened, name, source, said=told)

    # ---- what is seen

    def show(self):
        """Bring the rows up to date."""
        misfit = self.builder.misfit()
        if misfit is not None and misfit != self._misfit:
            self.seen.reveal(misfit)
        self._misfit, self.places = misfit, self.builder.tree(self.seen.unfolded)
        self.seen.only([p.path for p in self.places if p.holds], [p.path for p in self.places if not p.is_lane])
        told = max((p.path for p in self.places if _around(p.path, misfit)), key=len, default=None)
        taken = {LayerRow: 0, LaneRow: 0}
        self.rows = [self._row(LaneRow if place.is_lane else LayerRow, taken) for place in self.places]
        for number, (row, place) in enumerate(zip(self.rows, self.places)):
            if place.is_lane:
                following = self.places[number + 1].path if number + 1 < len(self.places) else ()
                row.show(place, empty=following[: len(place.path)] != place.path)
            else:
                self._show_layer(row, place, _told(place.row) if place.path == told else "")
        self.add_button.description = "add at end" if self.seen.opened is None else "add below"
        boxes = tuple(row.box for row in self.rows) or (self._empty,)
        if self.box.children != boxes:
            self.box.children = boxes

    def _row(self, kind, taken):
        """The next row of a kind; rows are made once, and used for whatever stands there."""
        pool, number = self._pools[kind], taken[kind]
        taken[kind] += 1
        if number == len(pool):
            pool.append(kind(self._clicked))
        return pool[number]

    def _clicked(self, name, path):
        self._act(name, path)

    def _show_layer(self, row, place, misfit):
        cls = self._known().get(called(parsed(place.row.call, "eval").body))  # None where there is none of that name any more
        form = self._opened_form(cls, place) if place.path == self.seen.opened and cls is not None else None
        row.show(place, form, one_line(cls) if cls else "", misfit)

    def _opened_form(self, cls, place):
        """The form of the opened layer, without what is in its lanes: a new one only where class or place is another."""
        key = place.path, cls, parameters(place.row.call, self._known())
        if self._form_key != key:
            self._form, self._form_key = Form(cls, changed=self._change, skip=key[2]), key
        self._form.set(self.builder.arguments(place.path))
        return self._form

    def _known(self):
        return self.builder.vocabulary.known()


def _around(path, misfit):
    """Whether a path is that of a layer, and it is the misfit or around it."""
    return misfit is not None and len(path) % 2 == 1 and misfit[: len(path)] == path


def _told(row):
    """What is wrong with a layer, without the whole call, which stands above it."""
    return row.error.replace(row.call, shortened(row.call))
