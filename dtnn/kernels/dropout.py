"""Dropout whose mask is a function of where it is used: it is never stored, backward asks the hash again."""

import numpy as np

from .cache import kernel
from .random import column_key, mix, row_key, stream_of
from .tape import call


def dropout(x, y, rate, place, key):
    """y = x / (1 - rate) with probability 1 - rate, else 0.

    Parameters
    ----------
    x, y : ndarray, (..., N)
        May be the same array.
    rate : float
        Share of numbers that become 0, in [0, 1).
    place : ndarray of uint64, (3,)
        Seed, number of the step, and `first`: column n is sample first + n of the global batch, so the mask does not depend on
        how the batch is split.  Read anew whenever this is done again, see `tape.call`.
    key : int
        Which dropout of the step it is.

    Notes
    -----
    The gradient is the same function of dy.  Srivastava et al., 2014.
    """
    number = x.dtype.type
    columns = np.empty(x.shape[-1], np.uint32)
    threshold = np.uint32(round(rate * (2**32 - 1)))
    rows = (x.size // max(1, x.shape[-1]), x.shape[-1])
    settings = threshold, number(1 / (1 - rate)), number(0), place, np.uint64(key), columns
    if x is y:
        call(drop_in_place, x.reshape(rows), *settings)
    else:
        call(drop, x.reshape(rows), y.reshape(rows), *settings)


@kernel
def drop(x, y, threshold, scale, zero, place, key, columns):
    stream, first = stream_of(place[0], place[1], key), np.int64(place[2])
    for n in range(columns.size):
        columns[n] = column_key(stream, first + n)
    for e in range(x.shape[0]):
        row = row_key(stream, e)
        for n in range(columns.size):
            keep = mix(np.uint32(row ^ columns[n])) >= threshold
            y[e, n] = scale * x[e, n] if keep else zero


@kernel
def drop_in_place(x, threshold, scale, zero, place, key, columns):
    stream, first = stream_of(place[0], place[1], key), np.int64(place[2])
    for n in range(columns.size):
        columns[n] = column_key(stream, first + n)
    for e in range(x.shape[0]):
        row = row_key(stream, e)
        for n in range(columns.size):
            keep = mix(np.uint32(row ^ columns[n])) >= threshold
            x[e, n] = scale * x[e, n] if keep else zero
