"""`tree`: a network's layers as a list, those inside of an unfolded layer below it, with what each makes and costs."""

from dataclasses import dataclass, replace

from .. import nn
from ..nn.tree import named_layers
from .calls import called, parsed
from .lanes import lanes
from .row import Row

PASS_ON = (nn.Sequential.build, nn.Residual.build, nn.Concatenate.build)  # each of whose lanes begins with what the layer gets


@dataclass(frozen=True)
class Place:
    """A line of the list: a layer, or the head of a lane of layers within one.

    Parameters
    ----------
    path : tuple of int
        See `dtnn.lab.nested`; a lane's is of even length.
    row : Row
        Of a lane: its name, the shape behind its last layer, the sums of what its layers cost.
    holds : bool
        Whether it is a layer with lanes inside.
    seen : bool
        Whether these come next in the list.
    several : bool
        Whether it is a lane of which there may be any number.
    known : bool
        Whether it can be told what comes in there; not so inside of a layer of the user's own.
    """

    path: tuple
    row: Row
    holds: bool = False
    seen: bool = False
    several: bool = False
    known: bool = True

    @property
    def is_lane(self):
        """Whether it is the head of a lane."""
        return len(self.path) % 2 == 0


def rows_of(calls, shape, look, vocabulary):
    """A `Row` for each of some layers in a row; the first that doesn't fit has the error, and those behind it no shape.

    Parameters
    ----------
    calls : sequence of str
    shape : tuple or None
        Of one sample before the first, without the batch; None: not known.
    look : callable
        ``look(call, shape)`` gives the `Row` of one layer.
    vocabulary : Vocabulary
    """
    rows = []
    for number, (call, name) in enumerate(zip(calls, _names(calls, vocabulary.read)), 1):
        if shape is None:
            rows.append(Row(name, call))
            continue
        row = look(call, shape)
        error = row.error and f"layer {number} ({name}, {call}): {row.error}"
        rows.append(replace(row, name=name, error=error))
        shape = row.shape
    return rows


def tree(calls, shape, look, vocabulary, unfolded=None):
    """A `Place` for each line of the list, in order.

    Parameters
    ----------
    calls, shape, look, vocabulary
        As for `rows_of`.
    unfolded : collection of tuples, optional
        The paths of the layers whose inside is seen; all, if nothing is said.

    Returns
    -------
    list of Place
    """
    known, found = vocabulary.known(), []

    def walk(calls, shape, path, sure):
        rows = rows_of(calls, shape, look, vocabulary)
        for place, row in enumerate(rows):
            before, here = rows[place - 1].shape if place else shape, (*path, place)
            inside = lanes(row.call, known)
            seen = bool(inside) and (unfolded is None or here in unfolded)
            found.append(Place(here, row, bool(inside), seen, known=sure))
            if seen:
                open_up(row.call, inside, before, here, sure)
        return rows

    def open_up(call, inside, shape, path, sure):
        told = _passes_on(call, known)
        for number, lane in enumerate(inside):
            at, head = (*path, number), len(found)
            found.append(None)
            rows = walk(lane.layers, shape if told else None, at, sure and told)
            found[head] = Place(at, _sums(lane.name, rows, shape if told else None), several=lane.several, known=sure and told)

    walk(calls, shape, (), True)
    return found


def misfit(calls, shape, look, vocabulary):
    """The path of the innermost layer that doesn't fit; None if all do."""
    rows, known = rows_of(calls, shape, look, vocabulary), vocabulary.known()
    place = next((number for number, row in enumerate(rows) if row.error), None)
    if place is None:
        return None
    before, call = rows[place - 1].shape if place else shape, calls[place]
    for number, lane in enumerate(lanes(call, known) if _passes_on(call, known) else []):
        inner = misfit(lane.layers, before, look, vocabulary)
        if inner:
            return (place, number, *inner)
    return (place,)


def shape_before(calls, shape, look, vocabulary, path):
    """The shape that a layer at a place gets, or would get; None where that can't be told."""
    place, *rest = path
    before = rows_of(calls[:place], shape, look, vocabulary) if place else []
    shape, known = before[-1].shape if before else shape, vocabulary.known()
    if len(rest) < 2:
        return shape
    layers = lanes(calls[place], known)[rest[0]].layers
    return shape_before(layers, shape if _passes_on(calls[place], known) else None, look, vocabulary, rest[1:])


def _passes_on(call, known):
    """Whether each lane of a layer begins with what the layer gets."""
    return getattr(known.get(called(parsed(call, "eval").body)), "build", None) in PASS_ON


def _sums(name, rows, shape):
    """A lane's row."""
    last = rows[-1].shape if rows else shape
    flops = [row.flops for row in rows]
    total = None if None in flops else sum(flops)
    error = next((row.error for row in rows if row.error), "")
    return Row(name, "", last, sum(row.parameters for row in rows), total, sum(row.bytes for row in rows), error)


def _names(calls, read):
    """Each layer's name in the network; its number where one of them can't be made."""
    try:
        net = nn.Sequential(*map(read, calls))
    except Exception:
        return [f"layer_{number}" for number in range(1, len(calls) + 1)]
    names = {id(layer): name for name, layer, _ in named_layers(net)}
    return [names[id(layer)] for layer in net.layers]
