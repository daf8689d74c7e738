"""What can be done to a network's layers, or to those inside of one: each function returns the layers as they are then.

A place is a number, that of a layer of the network, or a path, see `dtnn.lab.nested`; `vocabulary` reads and writes layers.
"""

from numbers import Integral

from .lanes import lanes
from .nested import edited, lanes_edited, layer_at


def added(calls, at, text, vocabulary):
    """A layer more, at a place."""
    path, text = layer_place(calls, at, vocabulary, more=1), vocabulary.written(text)
    return _done(calls, path[:-1], lambda layers: _with(layers, slice(path[-1], path[-1]), [text]), vocabulary)


def removed(calls, at, vocabulary):
    """A layer, or a branch, less; of a lane that has to be there, all of its layers."""
    path = checked(calls, at, vocabulary.known())
    if len(path) % 2:
        return _done(calls, path[:-1], lambda layers: _less(layers, path[-1]), vocabulary)
    if not _lane(calls, path, vocabulary).several:
        return _done(calls, path, lambda layers: [], vocabulary)
    return _lanes_done(calls, path, lambda rows: _less(rows, path[-1]), vocabulary)


def moved(calls, at, to, vocabulary):
    """A layer taken out and put back so that it stands at place `to`, in whatever lane."""
    known = vocabulary.known()
    path = layer_place(calls, at, vocabulary)
    call, rest = layer_at(calls, path, known), edited(calls, path[:-1], lambda layers: _less(layers, path[-1]), known)
    to = layer_place(rest, to, vocabulary, more=1)
    moved = edited(rest, to[:-1], lambda layers: _with(layers, slice(to[-1], to[-1]), [call]), known)
    return _written(moved, calls, vocabulary)


def doubled(calls, at, vocabulary):
    """The same layer, or branch, once more, behind itself."""
    path = checked(calls, at, vocabulary.known())
    behind = slice(path[-1] + 1, path[-1] + 1)
    if len(path) % 2:
        return _done(calls, path[:-1], lambda layers: _with(layers, behind, [layers[path[-1]]]), vocabulary)
    return branched(calls, path, vocabulary, _lane(calls, path, vocabulary).layers)


def branched(calls, at, vocabulary, layers=()):
    """A branch more, behind the one at a place; empty, what comes in goes out."""
    path = checked(calls, at, vocabulary.known())
    if len(path) % 2 or not _lane(calls, path, vocabulary).several:
        raise ValueError(f"place {_shown(path)} is no branch of which there may be any number, as those of a Concatenate are")
    return _lanes_done(calls, path, lambda rows: _with(rows, slice(path[-1] + 1, path[-1] + 1), [layers]), vocabulary)


def replaced(calls, at, text, vocabulary):
    """Another layer in its place."""
    path, text = layer_place(calls, at, vocabulary), vocabulary.written(text)
    return _done(calls, path[:-1], lambda layers: _with(layers, slice(path[-1], path[-1] + 1), [text]), vocabulary)


def layer_place(calls, at, vocabulary, more=0):
    """The path of a layer; a lane's is refused."""
    path = checked(calls, at, vocabulary.known(), more)
    if not len(path) % 2:
        raise ValueError(f"place {_shown(path)} is a lane, no layer; its layers are {_shown((*path, 0))} and so on")
    return path


def checked(calls, at, known, more=0):
    """The path that a place is; `more` places are possible behind the last layer."""
    path = at if isinstance(at, tuple) and at else (at,)
    for depth, index in enumerate(path):
        if not isinstance(index, Integral) or isinstance(index, bool):
            raise TypeError(f"place {index!r:.60} is no whole number; places are counted from 0")
        there = lanes(calls[path[depth - 1]], known) if depth % 2 else calls
        last = len(there) - 1 + more * (depth % 2 == 0 and depth == len(path) - 1)
        if not 0 <= index <= last:
            places = f"give 0 to {last}" if last >= 0 else "add one first"
            what = "lane" if depth % 2 else "layer"
            raise IndexError(f"there is no {what} at place {_shown(path[: depth + 1])}; there are {len(there)}: {places}")
        calls = there[index].layers if depth % 2 else calls
    return path


def _shown(path):
    """2, or 2.0.1 within the third layer."""
    return ".".join(map(str, path))


def _lane(calls, path, vocabulary):
    known = vocabulary.known()
    return lanes(layer_at(calls, path[:-1], known), known)[path[-1]]


def _with(items, where, others):
    """A list with others in the place of some."""
    items = list(items)
    items[where] = others
    return items


def _less(items, place):
    """A list without one."""
    return _with(items, slice(place, place + 1), [])


def _done(calls, row, change, vocabulary):
    return _written(edited(calls, row, change, vocabulary.known()), calls, vocabulary)


def _lanes_done(calls, path, change, vocabulary):
    return _written(lanes_edited(calls, path[:-1], change, vocabulary.known()), calls, vocabulary)


def _written(calls, former, vocabulary):
    """What has changed as it is written; raises what the layer's constructor raises."""
    return tuple(call if call in former else vocabulary.written(call) for call in calls)
