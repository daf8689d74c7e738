"""`lanes`: the rows of layers inside a layer, read off its call, and the call with other layers in them."""

import ast
import inspect
from dataclasses import dataclass

from .. import nn
from .arguments import bound, call_of, is_call
from .calls import called
from .fields import documented


@dataclass(frozen=True)
class Lane:
    """Layers in a row, within a layer.

    Parameters
    ----------
    name : str
        The parameter: "body"; of any number of them "branch 1".
    layers : tuple of str
        The Python of each. None: what comes in goes out.
    several : bool
        Whether there may be any number of such lanes.
    """

    name: str
    layers: tuple = ()
    several: bool = False


@dataclass(frozen=True)
class _Slot:
    """An argument that holds layers: its parameter, its lane, the node it was read from, and whether it may be left out."""

    parameter: inspect.Parameter
    lane: Lane
    node: ast.AST | None
    optional: bool = False


def lanes(call, known):
    """The lanes of a layer.

    Parameters
    ----------
    call : str
    known : dict
        The layers by name.

    Returns
    -------
    list of Lane
        Empty for a layer without layers inside.

    Examples
    --------
    >>> known = {name: getattr(nn, name) for name in ("Residual", "Sequential", "Linear", "ReLU")}
    >>> for lane in lanes("Residual(Sequential(Linear(8), ReLU()))", known):
    ...     print(lane.name, lane.layers)
    body ('Linear(8)', 'ReLU()')
    shortcut ()
    """
    return [slot.lane for slot in _slots_of(call, known)]


def parameters(call, known):
    """The names of the arguments that hold the lanes.

    >>> parameters("Residual(ReLU())", {"Residual": nn.Residual, "ReLU": nn.ReLU})
    ('body', 'shortcut')
    """
    return tuple(dict.fromkeys(slot.parameter.name for slot in _slots_of(call, known)))


def with_lanes(call, known, rows):
    """The call with these layers in its lanes; what is not changed is written as before.

    Parameters
    ----------
    call : str
    known : dict
    rows : sequence of sequences of str
        The layers of each lane; more or fewer than there are where there may be any number.

    Examples
    --------
    >>> known = {name: getattr(nn, name) for name in ("Residual", "Sequential", "Linear", "ReLU")}
    >>> with_lanes("Residual(Linear(8))", known, [["ReLU()"], ["Linear(8)"]])
    'Residual(ReLU(), shortcut=Linear(8))'
    """
    node = _node(call)
    cls = known[called(node)]
    slots, rows = _slots(node, cls, known), [tuple(row) for row in rows]
    fixed, arguments = [slot for slot in slots if not slot.lane.several], bound(node, cls)
    several = len(rows) - len(fixed)
    for parameter in inspect.signature(cls).parameters.values():
        here = [slot for slot in slots if slot.parameter.name == parameter.name]
        if here and here[0].lane.several:
            arguments[parameter.name] = [_written(row, _same(row, here)) for row in rows[:several]]
            rows = rows[several:]
        elif here:
            _put(arguments, here[0], rows.pop(0))
    return ast.unparse(call_of(node.func, arguments, cls))


def _slots_of(call, known):
    node = _node(call)
    cls = known.get(called(node)) if isinstance(node, ast.Call) else None
    return _slots(node, cls, known) if cls else []


def _slots(node, cls, known):
    told, arguments, found = documented(cls), bound(node, cls), []
    for parameter in inspect.signature(cls).parameters.values():
        name, value = parameter.name, arguments.get(parameter.name)
        takes_layers = told.get(name, ("", ""))[0].startswith("Layer")
        if parameter.kind is parameter.VAR_POSITIONAL:
            if takes_layers or (value and all(is_call(part, known) for part in value)):
                found += _starred(parameter, value or [], issubclass(cls, nn.Sequential))
        elif _holds(value, known) or (takes_layers and _nothing(value)):
            optional = takes_layers and parameter.default is not parameter.empty  # else its lane would be seen no more
            found.append(_Slot(parameter, Lane(name, _layers(value)), value, optional))
    return found


def _starred(parameter, nodes, in_a_row):
    """``*layers`` of a Sequential are one lane, ``*branches`` one each."""
    if in_a_row:
        return [_Slot(parameter, Lane(parameter.name, tuple(map(ast.unparse, nodes))), None)]
    one = parameter.name.removesuffix("es") if parameter.name.endswith("ches") else parameter.name.removesuffix("s")
    return [_Slot(parameter, Lane(f"{one} {number}", _layers(node), True), node) for number, node in enumerate(nodes, 1)]


def _holds(node, known):
    """Whether an argument is a layer, or a list of layers."""
    if isinstance(node, ast.List | ast.Tuple):
        return bool(node.elts) and all(is_call(part, known) for part in node.elts)
    return is_call(node, known)


def _nothing(node):
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _row(node):
    """Whether a node is a row of layers: ``Sequential(...)`` or a list."""
    return isinstance(node, ast.List | ast.Tuple) or (isinstance(node, ast.Call) and called(node) == "Sequential")


def _layers(node):
    """The layers in a node, as Python."""
    if _nothing(node):
        return ()
    parts = [node] if not _row(node) else node.args if isinstance(node, ast.Call) else node.elts
    return tuple(map(ast.unparse, parts))


def _same(row, slots):
    """The node that a lane with these layers was read from."""
    return next((slot.node for slot in slots if slot.lane.layers == row), None)


def _put(arguments, slot, row):
    """Write a lane among the arguments, unless it is as it was; an optional one that is empty is left out."""
    name = slot.parameter.name
    if row == slot.lane.layers:
        return
    if slot.parameter.kind is slot.parameter.VAR_POSITIONAL:  # a Sequential's own
        arguments[name] = [_node(layer) for layer in row]
    elif not row and slot.optional:
        arguments.pop(name, None)
    else:
        arguments[name] = _written(row, slot.node, slot.lane.layers)


def _written(row, node, former=None):
    """A lane as a node: as it was, a list if it was one, a layer alone, or ``Sequential(...)``."""
    if node is not None and former is None:
        return node
    parts = [_node(layer) for layer in row]
    if isinstance(node, ast.List | ast.Tuple):
        return ast.List(parts, ast.Load())
    if len(parts) == 1 and not _row(parts[0]) and (node is None or not _row(node)):
        return parts[0]
    return ast.Call(ast.Name("Sequential", ast.Load()), parts, [])


def _node(text):
    return ast.parse(text, mode="eval").body
