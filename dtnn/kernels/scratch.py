"""Scratch memory of a thread: kernels that copy and turn work in it, call after call, so that it stays in the cache."""

import threading

import numpy as np

from .aligned import aligned


class Thread(threading.local):
    """One set of arrays a thread."""

    def __init__(self):
        self.arrays = {}


thread = Thread()


def scratch(name, size):
    """A flat float32 array of at least `size` numbers that belongs to this thread until its next call with that name."""
    array = thread.arrays.get(name)
    if array is None or array.size < size:
        array = thread.arrays[name] = aligned(size + 16, np.float32)
    return array
