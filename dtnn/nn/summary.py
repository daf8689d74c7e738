"""`summary`: what a network consists of, row by row."""

from typing import NamedTuple

from .parameters import named_layers, named_parameters


class Row(NamedTuple):
    """One layer: its name, the call that makes it, shape of one sample behind it, its parameters, bytes of their gradient."""

    name: str
    layer: str
    shape: tuple
    parameters: int
    bytes: int


def summary(net):
    """One Row for each layer of a built Sequential.

    A layer used twice is listed twice; its parameters count where it stands first.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.nn import Flatten, Linear, Sequential
    >>> net = Sequential(Flatten(), Linear(10))
    >>> _ = net.build((1, 28, 28), np.random.default_rng(0))
    >>> [(row.name, row.shape, row.parameters) for row in summary(net)]
    [('flatten_1', (784,), 0), ('linear_1', (10,), 7850)]
    """
    names = {id(layer): name for name, layer, _ in named_layers(net)}
    rows, seen = [], set()
    for layer, shape in zip(net.layers, net.shapes):
        new = [] if id(layer) in seen else [p.value for _, p, _ in named_parameters(layer)]
        seen.add(id(layer))
        rows.append(Row(names[id(layer)], repr(layer), shape, sum(v.size for v in new), sum(v.nbytes for v in new)))
    return rows
