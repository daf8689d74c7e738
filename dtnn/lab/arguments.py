"""The arguments of a layer's call, as Python: to begin with, given, changed."""

import ast
import inspect

from .calls import called, parsed
from .fields import example, fields


def start(cls):
    """The call that adds a layer of a class with values to begin with: those of its docstring's example.

    >>> from dtnn import nn
    >>> start(nn.Linear), start(nn.ReLU)
    ('Linear(10)', 'ReLU()')
    """
    guesses = {"whole": "16", "number": "0.5", "flag": "False"}
    found = fields(cls)
    needed = [field for field in found if field.needed]
    if not needed and not any(field.starred for field in found):
        return f"{cls.__name__}()"
    return example(cls) or f"{cls.__name__}({', '.join(guesses.get(field.kind, '1') for field in needed)})"


def given(call, cls):
    """The arguments of a call, as Python, by the parameter's name; those of ``*layers`` joined by commas."""
    found, parameters = {}, iter(inspect.signature(cls).parameters.values())
    rest = list(call.args)
    while rest:
        parameter = next(parameters)
        if parameter.kind is parameter.VAR_POSITIONAL:
            found[parameter.name], rest = ", ".join(map(ast.unparse, rest)), []
        else:
            found[parameter.name] = ast.unparse(rest.pop(0))
    return found | {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}


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


def with_layers(text, known):
    """The arguments of a call in which layers stand: their names.

    >>> from dtnn import nn
    >>> with_layers("Residual(Linear(8))", {"Residual": nn.Residual, "Linear": nn.Linear})
    ['body']
    """
    call = ast.parse(text, mode="eval").body
    cls = known.get(called(call))
    found = given(call, cls) if cls else {}
    return [name for name, source in found.items() if any(is_call(node, known) for node in ast.walk(ast.parse(f"({source},)")))]


def is_call(node, known):
    """Whether a part of a syntax tree calls something known."""
    return isinstance(node, ast.Call) and called(node) in known


def laid_out(text, width=44):
    """A call on as many lines as it needs, each argument on its own where they don't fit on one.

    >>> print(laid_out("Residual(Sequential(Linear(8), ReLU()))", 30))
    Residual(
        Sequential(
            Linear(8),
            ReLU(),
        ),
    )
    """
    return _lines(ast.parse(text, mode="eval").body, 0, width)


def _lines(node, indent, width):
    text = ast.unparse(node)
    if not isinstance(node, ast.Call) or indent + len(text) <= width:
        return text
    inner = " " * (indent + 4)
    parts = [_lines(part, indent + 4, width) for part in node.args]
    parts += [f"{part.arg}={_lines(part.value, indent + 4, width)}" for part in node.keywords]
    return "\n".join([f"{ast.unparse(node.func)}(", *(f"{inner}{part}," for part in parts), f"{' ' * indent})"])
