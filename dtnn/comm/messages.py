"""Flat arrays as messages that every MPI library takes: not too long, and of numbers that it can reduce."""

import numpy as np

from .flat import put_back

LARGEST_MESSAGE = 2**31 - 1  # bytes; not every MPI library counts further


def pieces(elements):
    """A flat array in messages of at most `LARGEST_MESSAGE` bytes; at least one, be it empty."""
    step = max(1, LARGEST_MESSAGE // elements.itemsize)
    return [elements[start : start + step] for start in range(0, max(1, elements.size), step)]


def memory(elements):
    """The bytes of a flat array."""
    return elements.view(np.uint8)


def known_to_mpi(elements, op="sum"):
    """The same numbers as MPI can reduce them: half precision in single; of the largest or smallest, NaNs apart.

    Which of a number and NaN is larger, or of 0 and -0, is not the same to all ranks of a library.
    """
    if elements.dtype == bool:
        return elements.view(np.uint8)
    numbers = elements.astype(np.float32) if elements.dtype == np.float16 else elements
    if op == "sum" or numbers.dtype.kind != "f":
        return numbers
    sign, none = (1 if op == "max" else -1), np.isnan(numbers)
    return np.concatenate([np.where(none, numbers.dtype.type(-sign * np.inf), numbers), (sign * none).astype(numbers.dtype)])


def take_back(numbers, elements, array):
    """Into the array it came from, what `known_to_mpi` gave and MPI has reduced."""
    if numbers.size > elements.size:
        values, none = np.split(numbers, 2)
        elements[...] = np.where(none != 0, values.dtype.type(np.nan), values + 0)  # there is one zero
    elif numbers.dtype == np.float32 and elements.dtype == np.float16:
        elements[...] = numbers
    put_back(elements, array)
