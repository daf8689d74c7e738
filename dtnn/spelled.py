"""Things written as the call that makes them, such as ``Adam(cosine(0.003))``: read as text, never executed."""

import ast
import difflib
import json
import math

WORDS = {"inf": math.inf, "nan": math.nan}


def made(text, modules, kind):
    """What a call makes, of the names in `modules` and literals; a name alone is the thing of that name.

    Parameters
    ----------
    text : str
    modules : sequence of modules
        Where names are looked up: public ones that are functions, classes or instances, nothing else.
    kind : str
        What is looked for, for the error.

    Raises
    ------
    ValueError
        It is no such call, or names what there isn't; the text shows it, and the nearest right name.

    Examples
    --------
    >>> from dtnn import optim
    >>> made("SGD(cosine(0.1), momentum=0.9)", [optim, optim.schedules], "optimizer")
    SGD(lr=cosine(0.1), momentum=0.9)
    """
    try:
        return _value(ast.parse(text.strip(), mode="eval").body, modules)
    except (SyntaxError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{kind} {text!r} can't be made: {error}") from None


def call(function, arguments=(), settings=None):
    """The text of a call; with double quotes, for it is to stand in a shell's single ones.

    >>> print(call("synthetic", ((8, 8, 1), 10), {"seed": 3, "name": "noise"}))
    synthetic((8, 8, 1), 10, seed=3, name="noise")
    """
    settings = (settings or {}).items()
    given = [_shown(value) for value in arguments] + [f"{name}={_shown(value)}" for name, value in settings]
    return f"{function}({', '.join(given)})"


def _shown(value):
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _value(node, modules):
    if isinstance(node, ast.Call):
        settings = {keyword.arg: _value(keyword.value, modules) for keyword in node.keywords}
        if None in settings:
            raise ValueError("** has no place here")
        function = _named(node.func, modules)
        return function(*(_value(argument, modules) for argument in node.args), **settings)
    if isinstance(node, ast.Name) and node.id not in WORDS:
        return _named(node, modules)
    if isinstance(node, ast.Name):
        return WORDS[node.id]
    if isinstance(node, ast.Tuple):
        return tuple(_value(item, modules) for item in node.elts)
    if isinstance(node, ast.List):
        return [_value(item, modules) for item in node.elts]
    return ast.literal_eval(node)


def _named(node, modules):
    if not isinstance(node, ast.Name):
        raise ValueError("only names and calls of names have a meaning here")
    public = {name: module for module in reversed(modules) for name in _public(module)}
    if node.id not in public:
        near = difflib.get_close_matches(node.id, public, 1, 0.4)
        raise ValueError(f"there is no {node.id!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return getattr(public[node.id], node.id)


def _public(module):
    """What a module offers by name, and the classes it defines: never what it imports for itself."""
    listed, things = getattr(module, "__all__", None), vars(module).items()
    own = [name for name, thing in things if name[0] != "_" and getattr(thing, "__module__", "") == module.__name__]
    if listed is None:
        return own
    classes = [name for name in own if isinstance(getattr(module, name), type)]
    return classes + [name for name in listed if not isinstance(getattr(module, name), type(math))]
