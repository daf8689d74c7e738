"""Things may be given by name: the name is looked up where the thing is defined."""

import difflib

# What other libraries call it, in lower case.
ELSEWHERE = {
    "categorical_crossentropy": "cross_entropy", "sparse_categorical_crossentropy": "cross_entropy", "ce": "cross_entropy",
    "crossentropy": "cross_entropy", "crossentropyloss": "cross_entropy", "nll": "cross_entropy", "nll_loss": "cross_entropy",
    "binary_crossentropy": "binary_cross_entropy", "bce": "binary_cross_entropy", "bcewithlogitsloss": "binary_cross_entropy",
    "mean_squared_error": "mse", "mseloss": "mse", "l2": "mse", "mean_absolute_error": "mae", "l1": "mae", "l1loss": "mae",
    "acc": "accuracy", "binary_accuracy": "accuracy", "categorical_accuracy": "accuracy", "r2_score": "r2",
}  # fmt: skip


def named(module, text, kind):
    """The public thing of `module` whose name is `text`, whatever its capitals; classes are made with their defaults.

    Parameters
    ----------
    module : module
        Where to look: what its ``__all__`` names, or the functions and instances that it defines.
    text : str
        The name.
    kind : str
        What is looked for, for the error: "optimizer", "loss" ...

    Raises
    ------
    ValueError
        If there is no such name; the message has the nearest right one.

    Examples
    --------
    >>> from dtnn import optim
    >>> named(optim, "adam", "optimizer").lr
    0.001
    """
    names = {name.lower(): name for name in _public(module)}
    elsewhere = ELSEWHERE.get(text.lower())
    if text.lower() not in names and elsewhere in names:
        raise ValueError(f"no {kind} is called {text!r}: did you mean {names[elsewhere]!r}?")
    if text.lower() not in names:
        near = difflib.get_close_matches(text.lower(), names, 1, 0.4)
        hint = f"did you mean {names[near[0]]!r}?" if near else f"known are {', '.join(names.values())}"
        raise ValueError(f"no {kind} is called {text!r}: {hint}")
    found = getattr(module, names[text.lower()])
    return found() if isinstance(found, type) else found


def chosen(module, thing, kind):
    """`thing` itself, or what is called so in `module` if it is a text."""
    return named(module, thing, kind) if isinstance(thing, str) else thing


def _public(module):
    own = [
        n
        for n, thing in vars(module).items()
        if getattr(thing, "__module__", "") == module.__name__ and not isinstance(thing, type)
    ]
    return getattr(module, "__all__", [name for name in own if not name.startswith("_")])
