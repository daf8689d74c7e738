"""`describe`: the call that makes a layer again, as its `repr` shows it."""

import inspect

from .numbers import plain


def describe(layer):
    """The constructor call that makes the layer again; defaults are left out.

    Examples
    --------
    >>> from dtnn.nn import Conv2d
    >>> Conv2d(6, 5, padding=2)
    Conv2d(6, 5, padding=2)
    """
    given, keyword = [], False
    for name, p in inspect.signature(type(layer).__init__).parameters.items():
        held = constructor_value(layer, name, p.default)
        if name == "self" or p.kind is p.VAR_KEYWORD:
            continue
        if p.kind is p.VAR_POSITIONAL:
            given += [repr(item) for item in getattr(layer, name, ())]
        elif p.default is p.empty and not keyword and p.kind is not p.KEYWORD_ONLY:
            given.append(shown(held) if held is not p.empty else "...")
        elif held is p.empty or held != p.default:
            keyword = True
            given.append(f"{name}={shown(held)}" if held is not p.empty else f"{name}=...")
    return f"{type(layer).__name__}({', '.join(given)})"


def constructor_value(layer, name, default):
    """What was given for an argument; `bias=True` has become a Parameter."""
    held = getattr(layer, name, default)
    if isinstance(default, bool) and not isinstance(held, bool):
        return held is not None
    return held


def shown(value):
    """repr, but for a function of `dtnn.nn.init` its name."""
    own = inspect.isfunction(value) and value.__module__ == f"{__package__}.init"
    return repr(value.__name__ if own else plain(value))
