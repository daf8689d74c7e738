"""What a model is made for: the shape of one sample, and the kind of its numbers."""

import operator
from numbers import Integral

import numpy as np

from .allowed import shown

MOST = 1 << 31  # along an axis of a sample: more than any memory has room for


def input_shape_of(shape):
    """The shape as a tuple of int; one number is a row of so many features.

    Raises
    ------
    ValueError
        It is no shape of a sample; says what one looks like.

    Examples
    --------
    >>> input_shape_of([28, 28, 1]), input_shape_of(784)
    ((28, 28, 1), (784,))
    """
    try:
        found = tuple(map(operator.index, [shape] if isinstance(shape, Integral) else shape))
    except TypeError:
        found = ()
    if isinstance(shape, bool | bytes) or len(found) not in (1, 2, 3) or not all(0 < size < MOST for size in found):
        raise ValueError(
            f"input_shape={shown(shape)}: give the shape of one sample without the batch, "
            "(height, width, channels) of an image or (features,) of a row"
        )
    return found


def inner(shape):
    """Shape of a sample inside: (C, H, W), (D, T) or (D,).

    >>> inner((32, 24, 3)), inner((784,))
    ((3, 32, 24), (784,))
    """
    return (*shape[-1:], *shape[:-1])


def dtype_of(dtype):
    """ "float32" or "float64"; anything else is a `ValueError`."""
    try:
        found = "" if dtype is None else np.dtype(dtype).name
    except TypeError:
        found = ""
    if found not in ("float32", "float64"):
        raise ValueError(f'dtype={shown(dtype)}: a model is "float32" or "float64"')
    return found
