"""First values of weights: functions (rng, shape) -> float64 array, with the right fans for (out, in) and (out, in, kh, kw)."""

import difflib
import math

import numpy as np


def fans(shape):
    """(inputs, outputs) that one number of the result, and one of the input, is connected with.

    Parameters
    ----------
    shape : tuple
        (out, in) or (out, in, kh, kw).

    Examples
    --------
    >>> fans((10, 84)), fans((16, 6, 5, 5))
    ((84, 10), (150, 400))
    """
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def he_normal(rng, shape):
    """N(0, 2 / fan_in): keeps the variance through a layer and its ReLU.  He et al., 2015."""
    return rng.standard_normal(shape) * np.sqrt(2 / fans(shape)[0])


def he_uniform(rng, shape):
    """U(-a, a), a = sqrt(6 / fan_in): the same variance."""
    limit = np.sqrt(6 / fans(shape)[0])
    return rng.uniform(-limit, limit, shape)


def glorot_normal(rng, shape):
    """N(0, 2 / (fan_in + fan_out)): between forward and backward, without ReLU.  Glorot and Bengio, 2010."""
    return rng.standard_normal(shape) * np.sqrt(2 / sum(fans(shape)))


def glorot_uniform(rng, shape):
    """U(-a, a), a = sqrt(6 / (fan_in + fan_out)): the same variance."""
    limit = np.sqrt(6 / sum(fans(shape)))
    return rng.uniform(-limit, limit, shape)


def initialiser(init, layer):
    """The function for a name, or the function itself.

    Raises
    ------
    ValueError
        If no initialiser has that name; names the nearest one.

    Examples
    --------
    >>> initialiser("he_normal", "Linear") is he_normal
    True
    """
    if callable(init):
        return init
    names = ("he_normal", "he_uniform", "glorot_normal", "glorot_uniform", "zeros", "ones")
    if init not in names:
        near = difflib.get_close_matches(str(init), names, 1) or names
        raise ValueError(f"{layer}: there is no initialiser {init!r}; did you mean {' or '.join(map(repr, near))}?")
    return globals()[init]


def zeros(rng, shape):
    """0"""
    return np.zeros(shape)


def ones(rng, shape):
    """1"""
    return np.ones(shape)
