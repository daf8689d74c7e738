"""`summary`: what a network consists of, row by row."""

import html
from typing import NamedTuple

from ..allowed import shown
from .check_weights import check_layers
from .tree import named_layers, named_parameters

MOST = 48  # letters of a cell


class Row(NamedTuple):
    """One layer: its name, the call that makes it, shape of one sample behind it, its parameters, bytes of their gradient."""

    name: str
    layer: str
    shape: tuple
    parameters: int
    bytes: int


class Summary(list):
    """The rows of a network, which print as a table, in a notebook too."""

    heads = "name", "layer", "output shape", "parameters", "gradient bytes"

    def cells(self):
        """The texts of the table: heads, one row a layer, sums."""
        total = sum(row.parameters for row in self), sum(row.bytes for row in self)
        rows = [(row.name, row.layer, str(row.shape), f"{row.parameters:,}", f"{row.bytes:,}") for row in self]
        return [self.heads, *rows, ("", "", "in all", f"{total[0]:,}", f"{total[1]:,}")]

    @property
    def parameters(self):
        """Number of parameters of the network."""
        return sum(row.parameters for row in self)

    def __str__(self):
        cells = [[_short(text) for text in row] for row in self.cells()]
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = ["  ".join([*map(str.ljust, row[:3], widths), *map(str.rjust, row[3:], widths[3:])]) for row in cells]
        rule = "-" * len(lines[0])
        return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1]])

    __repr__ = __str__

    def _repr_html_(self):
        head, *rows = self.cells()
        body = "".join(f"<tr>{''.join(_html_cell(place, text) for place, text in enumerate(row))}</tr>" for row in rows)
        return f"<table><tr>{''.join(f'<th>{name}</th>' for name in head)}</tr>{body}</table>"


def _html_cell(place, text):
    """A long call is cut as in a terminal, seen whole under the mouse, and goes on in a next line where the page is narrow."""
    style = f"text-align:{'right' if place > 2 else 'left'}" + ";overflow-wrap:anywhere" * (place == 1)
    whole = f' title="{html.escape(text)}"' if _short(text) != text else ""
    return f'<td style="{style}"{whole}>{html.escape(_short(text))}</td>'


def _short(text):
    """A long constructor call is cut, so that the table stays one."""
    return text if len(text) <= MOST else text[: MOST - 3] + "..."


def summary(net):
    """One Row for each layer of a built Sequential, in a list that prints as a table.

    A layer used twice is listed twice; its parameters count where it stands first.

    Raises
    ------
    ValueError
        It is not built, or layers were put in or taken out since.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.nn import Flatten, Linear, Sequential
    >>> net = Sequential(Flatten(), Linear(10))
    >>> _ = net.build((1, 28, 28), np.random.default_rng(0))
    >>> summary(net)
    name       layer       output shape  parameters  gradient bytes
    ---------------------------------------------------------------
    flatten_1  Flatten()   (784,)                 0               0
    linear_1   Linear(10)  (10,)              7,850          31,400
    ---------------------------------------------------------------
                           in all             7,850          31,400
    """
    if not getattr(net, "output_shape", None):
        raise ValueError(f"summary is of a Sequential that is built, such as model.net, not of {shown(net)}")
    check_layers(net)
    names = {id(layer): name for name, layer, _ in named_layers(net)}
    rows, seen = [], set()
    for layer, shape in zip(net.layers, net.shapes):
        new = [] if id(layer) in seen else [p.value for _, p, _ in named_parameters(layer)]
        seen.add(id(layer))
        rows.append(Row(names[id(layer)], repr(layer), shape, sum(v.size for v in new), sum(v.nbytes for v in new)))
    return Summary(rows)
