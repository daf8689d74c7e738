"""The arguments of a layer's call, as Python: to begin with, given, changed."""

import ast
import inspect

from .. import nn
from .calls import called, parsed
from .fields import example, fields


def start(cls, shape=None):
    """The call that adds a layer of a class with values to begin with: those of its docstring's example; a Residual that fits.

    >>> from dtnn import nn
    >>> start(nn.Linear), start(nn.ReLU)
    ('Linear(10)', 'ReLU()')
    >>> start(nn.Residual, (32,))
    'Residual(Sequential(Linear(32), ReLU(), Linear(32)))'
    """
    if cls is nn.Residual and shape:
        layer = f"Conv2d({shape[0]}, 3, padding=1), BatchNorm2d()" if len(shape) == 3 else f"Linear({shape[0]})"
        return f"Residual(Sequential({layer}, ReLU(), {layer}))"
    guesses = {"whole": "16", "number": "0.5", "flag": "False"}
    found = fields(cls)
    needed = [field for field in found if field.needed]
    if not needed and not any(field.starred for field in found):
        return f"{cls.__name__}()"
    return example(cls) or f"{cls.__name__}({', '.join(guesses.get(field.kind, '1') for field in needed)})"


def given(call, cls):
    """The arguments of a call, as Python, by the parameter's name; those of ``*layers`` joined by commas."""
    return {
        name: ", ".join(map(ast.unparse, part)) if isinstance(part, list) else ast.unparse(part)
        for name, part in bound(call, cls).items()
    }


def bound(call, cls):
    """The arguments of a call as parts of the syntax tree, by the parameter's name; those of ``*layers`` in a list."""
    found, parameters = {}, iter(inspect.signature(cls).parameters.values())
    rest = list(call.args)
    while rest:
        parameter = next(parameters)
        if parameter.kind is parameter.VAR_POSITIONAL:
            found[parameter.name], rest = rest, []
        else:
            found[parameter.name] = rest.pop(0)
    return found | {keyword.arg: keyword.value for keyword in call.keywords}


def call_of(function, arguments, cls):
    """The opposite of `bound`: starred arguments, those without a default and all before them by place, others by keyword."""
    parameters = inspect.signature(cls).parameters.values()
    by_place, by_name, starred = [], [], any(p.kind is p.VAR_POSITIONAL and arguments.get(p.name) for p in parameters)
    for parameter in parameters:
        if parameter.name not in arguments:
            continue
        value = arguments.pop(parameter.name)
        if parameter.kind is parameter.VAR_POSITIONAL:
            by_place += value
        elif parameter.kind is not parameter.KEYWORD_ONLY and (starred or parameter.default is parameter.empty) and not by_name:
            by_place.append(value)
        else:
            by_name.append(ast.keyword(parameter.name, value))
    by_name += [ast.keyword(name, value) for name, value in arguments.items()]  # of **more
    return ast.Call(function, by_place, by_name)


def with_argument(text, known, name, source):
    """A call with one argument set anew, all by keyword but the starred ones.

    >>> from dtnn import nn
    >>> with_argument("Conv2d(6, 5)", {"Conv2d": nn.Conv2d}, "stride", "2")
    'Conv2d(channels=6, kernel_size=5, stride=2)'
    """
    call = ast.parse(text, mode="eval").body
    cls = known[called(call)]
    starred = [p.name for p in inspect.signature(cls).parameters.values() if p.kind is p.VAR_POSITIONAL]
    if not source:
        raise ValueError(f"{cls.__name__}: {name} must be given")
    arguments = given(call, cls) | {name: source if name in starred else ast.unparse(parsed(source, "eval"))}
    first = [arguments.pop(place) for place in starred if arguments.get(place)]
    keywords = [f"{key}={value}" for key, value in arguments.items() if key not in starred]
    return f"{cls.__name__}({', '.join(first + keywords)})"


def is_call(node, known):
    """Whether a part of a syntax tree calls something known."""
    return isinstance(node, ast.Call) and called(node) in known
