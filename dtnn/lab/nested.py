"""Layers within layers: a place is a path of numbers, and one set of functions finds and edits what is there.

The path ``(2,)`` is the third layer of the network, ``(2, 0)`` its first lane (a Residual's body, a Concatenate's first branch),
``(2, 0, 1)`` the second layer in that lane. So the path of a layer is of odd length, that of a lane of even length.
"""

from .lanes import lanes, with_lanes


def layer_at(calls, path, known):
    """The Python of the layer at a place.

    >>> from dtnn import nn
    >>> known = {"Residual": nn.Residual, "Linear": nn.Linear, "ReLU": nn.ReLU, "Sequential": nn.Sequential}
    >>> layer_at(("ReLU()", "Residual(Sequential(Linear(8), ReLU()))"), (1, 0, 1), known)
    'ReLU()'
    """
    return row_at(calls, path[:-1], known)[path[-1]]


def row_at(calls, path, known):
    """The layers in a lane; of the empty path, those of the network."""
    for layer, lane in zip(path[::2], path[1::2]):
        calls = lanes(calls[layer], known)[lane].layers
    return calls


def edited(calls, path, change, known):
    """The layers of the network after one of its lanes was changed.

    Parameters
    ----------
    calls : sequence of str
    path : tuple of int
        Of the lane; the empty one is the network.
    change : callable
        ``change(layers)`` returns the layers that the lane has then.
    known : dict
        The layers by name.

    Examples
    --------
    >>> from dtnn import nn
    >>> known = {"Residual": nn.Residual, "Linear": nn.Linear, "ReLU": nn.ReLU, "Sequential": nn.Sequential}
    >>> edited(["Residual(Linear(8))"], (0, 0), lambda layers: [*layers, "ReLU()"], known)
    ('Residual(Sequential(Linear(8), ReLU()))',)
    """
    if not path:
        return tuple(change(list(calls)))
    number, lane, *rest = path

    def within(rows):
        return [edited(row, rest, change, known) if place == lane else row for place, row in enumerate(rows)]

    return lanes_edited(calls, (number,), within, known)


def lanes_edited(calls, path, change, known):
    """The layers of the network after a layer got other lanes: `change` is given the layers of each."""

    def with_others(layers):
        rows = change([lane.layers for lane in lanes(layers[path[-1]], known)])
        return [with_lanes(call, known, rows) if place == path[-1] else call for place, call in enumerate(layers)]

    return edited(calls, path[:-1], with_others, known)


def after(path, taken=None, put=None):
    """Where a place is, once what was at the place `taken` has been taken out, and then something put in at `put`; None: gone.

    >>> after((3, 0, 1), taken=(1,)), after((3, 0, 1), put=(3, 0, 0)), after((3, 0, 1), taken=(3,))
    ((2, 0, 1), (3, 0, 2), None)
    >>> after((3, 0, 1), taken=(3,), put=(0,))  # it was moved with what it is in
    (0, 0, 1)
    """
    if taken is not None and path[: len(taken)] == taken:
        return None if put is None else (*put, *path[len(taken) :])
    if taken is not None:
        path = _shifted(path, taken, -1)
    return path if put is None else _shifted(path, put, 1)


def _shifted(path, at, by):
    """A path, if it leads through the same lane at or behind a place, by so many places further on."""
    last = len(at) - 1
    if len(path) > last and path[:last] == at[:last] and path[last] >= at[last]:
        return (*path[:last], path[last] + by, *path[last + 1 :])
    return path


def neighbour(calls, path, down, known, unfolded=()):
    """Where a layer goes that is moved by one line in the list as it is seen: over its neighbour, into an unfolded one, out.

    Parameters
    ----------
    calls : sequence of str
    path : tuple of int
        Of the layer.
    down : bool
    known : dict
    unfolded : collection of tuples
        The layers whose inside is seen.

    Returns
    -------
    tuple of int
        Its place afterwards; the same one at the end of the network.

    Examples
    --------
    >>> from dtnn import nn
    >>> known, calls = {"Residual": nn.Residual, "ReLU": nn.ReLU}, ["ReLU()", "Residual(ReLU())"]
    >>> neighbour(calls, (0,), True, known), neighbour(calls, (0,), True, known, {(1,)})
    ((1,), (0, 0, 0))
    >>> neighbour(calls, (1, 0, 0), False, known), neighbour(calls, (1, 0, 0), True, known)
    ((1,), (1, 1, 0))
    """
    row, place = path[:-1], path[-1]
    layers, beside = row_at(calls, row, known), place + 1 if down else place - 1
    if 0 <= beside < len(layers):
        inside = lanes(layers[beside], known) if (*row, beside) in unfolded else []
        if not inside:
            return (*row, beside)
        return (*row, place, 0, 0) if down else (*row, beside, len(inside) - 1, len(inside[-1].layers))
    if not row:
        return path
    around, lane = row[:-1], row[-1] + 1 if down else row[-1] - 1
    inside = lanes(layer_at(calls, around, known), known)
    if 0 <= lane < len(inside):
        return (*around, lane, 0 if down else len(inside[lane].layers))
    return (*around[:-1], around[-1] + 1) if down else around
