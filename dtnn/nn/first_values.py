"""`first_values`: what a parameter begins with, from an initialiser or its name."""

import difflib
import inspect

import numpy as np

from . import init as functions
from .layer import Parameter


def first_values(init, layer, rng, shape, groups=1):
    """The first values of a parameter, of that shape.

    Raises
    ------
    ValueError
        If there is no such initialiser, or it is one of the user's own, and gives another shape.

    Examples
    --------
    >>> first_values(lambda rng, shape: np.ones(3), "Linear", None, (3, 2))
    Traceback (most recent call last):
    ValueError: Linear: its initialiser ... gave an array of shape (3,); it must be (3, 2)
    """
    make = initialiser(init, layer)
    told = {"groups": groups} if groups > 1 and "groups" in inspect.signature(make).parameters else {}
    values = make(rng, shape, **told)
    if np.shape(values) != shape:
        raise ValueError(f"{layer}: its initialiser {init!r} gave an array of shape {np.shape(values)}; it must be {shape}")
    return values


def first_bias(layer, rng, size):
    """The bias of a layer with the settings `bias` and `bias_init`; None if it has none."""
    if not layer.bias:
        return None
    return Parameter(first_values(layer.bias_init, f"{type(layer).__name__}: bias_init", rng, (size,)), decay=False)


def initialiser(init, layer):
    """The function for a name, or the function itself.

    Raises
    ------
    ValueError
        If no initialiser has that name; names the nearest one.

    Examples
    --------
    >>> initialiser("he_normal", "Linear") is functions.he_normal
    True
    """
    if callable(init) and not isinstance(init, type):
        return init
    kinds = [f"{name}_{spread}" for name in ("he", "glorot", "lecun") for spread in ("normal", "uniform")]
    names = (*kinds, "orthogonal", "zeros", "ones")
    if init not in names:
        near = difflib.get_close_matches(str(init), names, 1) or (*names, functions.Constant(0.1))
        raise ValueError(f"{layer}: there is no initialiser {init!r}; did you mean {' or '.join(map(repr, near))}?")
    return getattr(functions, init)
