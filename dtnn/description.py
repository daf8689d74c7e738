"""A network as plain values: what a file says of it, and the network that a description stands for.

A layer's ``repr`` is the constructor call that makes it again, of literals and other layers only.  So a description is
the call read as text; nothing in it is ever executed.
"""

import ast

from . import nn


def describe(layer):
    """The layer as plain values: its class's name, its arguments, nested for layers of layers.

    Raises
    ------
    ValueError
        If the ``repr`` of the layer isn't the call that makes it.

    Examples
    --------
    >>> describe(nn.Conv2d(6, 5, padding=2))
    {'layer': 'Conv2d', 'arguments': [6, 5], 'settings': {'padding': 2}}
    """
    text = repr(layer)
    try:
        return _from_call(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError) as error:
        raise ValueError(
            f"{type(layer).__name__} can't be described: its repr is {text[:80]!r}, and should be the call that makes the layer "
            'again, such as "MyLayer(3)"; give it a __repr__'
        ) from error


def build(description, layers=()):
    """The layer that `describe` described, not built yet.

    Parameters
    ----------
    description : dict
        From a file; what it names is looked up in `dtnn.nn` and in `layers`, nothing else.
    layers : sequence of classes
        The layers of your own that the description may name.

    Raises
    ------
    ValueError
        If it names a layer that is neither.

    Examples
    --------
    >>> build({"layer": "Linear", "arguments": [10], "settings": {}})
    Linear(10)
    """
    if not (isinstance(description, dict) and description.keys() == {"layer", "arguments", "settings"}):
        raise ValueError(f"not the description of a layer: {str(description)[:80]}")
    name = description["layer"]
    own = {cls.__name__: cls for cls in layers}
    if name not in own and name not in nn.__all__:
        raise ValueError(f"layer {name!r} is none of dtnn's: pass its class, as in load(path, layers=[{name}])")
    cls = own.get(name) or getattr(nn, name)
    if not (isinstance(cls, type) and issubclass(cls, (nn.Layer, nn.Constant))):  # an initialiser is a setting of a layer
        raise ValueError(f"{name!r} is not a layer")
    arguments = [_value(item, layers) for item in description["arguments"]]
    return cls(*arguments, **{key: _value(item, layers) for key, item in description["settings"].items()})


def describe_row(layers):
    """A description for each layer; one that stands there again is told by the place where it stood first.

    >>> shared = nn.ReLU()
    >>> describe_row([shared, nn.Flatten(), shared])[2]
    {'again': 0}
    """
    places, described = {}, []
    for place, layer in enumerate(layers):
        described.append({"again": places[id(layer)]} if id(layer) in places else describe(layer))
        places.setdefault(id(layer), place)
    return described


def build_row(descriptions, layers=()):
    """The layers that `describe_row` described; `layers` as for `build`."""
    made = []
    for description in descriptions:
        again = description.get("again") if isinstance(description, dict) else None
        made.append(build(description, layers) if again is None else made[again])
    return made


def code(layers, **settings):
    """Python code that makes a model of these layers.

    Examples
    --------
    >>> print(code([nn.Flatten(), nn.Linear(10)], input_shape=(28, 28, 1)))
    from dtnn import Model
    from dtnn.nn import Flatten, Linear
    <BLANKLINE>
    model = Model(
        Flatten(),
        Linear(10),
        input_shape=(28, 28, 1),
    )
    """
    calls = [repr(layer) for layer in layers]
    called = [node.func for call in calls for node in ast.walk(ast.parse(call)) if isinstance(node, ast.Call)]
    names = {function.id for function in called if isinstance(function, ast.Name)}
    lines = [*calls, *(f"{key}={value!r}" for key, value in settings.items())]
    body = "".join(f"    {line},\n" for line in lines)
    own = sorted(names - set(nn.__all__))
    remark = f"# {', '.join(own)}: your own, import from where you defined it\n" if own else ""
    imported = ", ".join(sorted(names & set(nn.__all__)))
    return f"from dtnn import Model\nfrom dtnn.nn import {imported}\n{remark}\nmodel = Model(\n{body})"


def _from_call(node):
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return {
            "layer": node.func.id,
            "arguments": [_from_call(argument) for argument in node.args],
            "settings": {keyword.arg: _from_call(keyword.value) for keyword in node.keywords},
        }
    if isinstance(node, ast.List | ast.Tuple):
        return [_from_call(item) for item in node.elts]
    return ast.literal_eval(node)


def _value(item, layers):
    if isinstance(item, dict):
        return build(item, layers)
    return tuple(_value(part, layers) for part in item) if isinstance(item, list) else item
