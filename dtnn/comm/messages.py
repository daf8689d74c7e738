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


def known_to_mpi(elements):
    """The same numbers in a type that MPI can reduce; half precision is summed in single."""
    if elements.dtype == np.float16:
        return elements.astype(np.float32)
    return elements.view(np.uint8) if elements.dtype == bool else elements


def take_back(numbers, elements, array):
    """Into the array it came from, what `known_to_mpi` gave and MPI has reduced."""
    if numbers.dtype == np.float32 and elements.dtype == np.float16:
        elements[...] = numbers
    put_back(elements, array)
