"""Arrays of any layout as flat memory in C order, and back.

MPI reads memory, not arrays: handed a transposed array it adds up elements that don't belong together, without an error.
So nothing goes out that is not contiguous, in C order and in the machine's own byte order.
"""

import numpy as np

from .checked import known_operation


def flat(array, writeable=False):
    """The elements in C order as a one-dimensional array: a view where the memory is like that, else a copy.

    Parameters
    ----------
    array : ndarray
        Any shape and layout, numbers or booleans.
    writeable : bool
        Whether something will be written back.

    Raises
    ------
    TypeError
        Not an array of numbers.
    ValueError
        `writeable` is asked of a read-only array.

    Examples
    --------
    >>> flat(np.arange(6).reshape(2, 3).T)
    array([0, 3, 1, 4, 2, 5])
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"communicators carry NumPy arrays, not {type(array).__name__}; wrap it: np.array({array!r:.40})")
    if array.dtype.kind not in "biufc":
        raise TypeError(f"communicators carry numbers, not dtype {array.dtype}; turn the array into numbers first")
    if writeable and not array.flags.writeable:
        raise ValueError(f"the array of shape {array.shape} is read-only, nothing can be received in it; pass array.copy()")
    if isinstance(array, np.ma.MaskedArray | np.matrix):  # one would add up only what it shows, the other is never flat
        array = array.view(np.ndarray)
    return array.reshape(-1) if _is_flat(array) else np.array(array, array.dtype.newbyteorder("="), order="C").reshape(-1)


def put_back(elements, array):
    """Write what `flat` gave, changed meanwhile, into the array it came from; nothing to do where it was a view."""
    if not _is_flat(array):
        array[...] = elements.reshape(array.shape)


def reducible(array, op):
    """`flat` of an array that is to be reduced in place; refuses an operation that the numbers don't have."""
    elements = flat(array, writeable=True)
    if known_operation(op) == "sum" and array.dtype.kind == "b":
        raise TypeError('booleans have no sum here; use op="max" for "any", op="min" for "all", or array.astype(int) to count')
    if op != "sum" and array.dtype.kind == "c":
        raise TypeError(f"complex numbers have no order, so no {op!r}; reduce their magnitudes: np.abs(array)")
    return elements


def number_or_array(value):
    """A 0-d or larger array to work on, and whether it was a plain number (float, int, or NumPy scalar).

    >>> number_or_array(2.5)
    (array(2.5), True)
    """
    plain = isinstance(value, int | float | complex | np.number) and not isinstance(value, np.ndarray)
    return (np.array(value), True) if plain else (value, False)


def _is_flat(array):
    return array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative
