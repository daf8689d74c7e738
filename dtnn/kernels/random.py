"""Random numbers that are a function of where they are used: no generator, no state, the same on any number of ranks.

A stream is a 64-bit number made of (seed, step, key ...).  In it, element e of sample s has its own 32 bits:
`mix(rows(e) ^ columns(s))`, with a finaliser in which every bit of the input moves every bit of the output.
"""

import numpy as np

from .cache import kernel

WORD = (1 << 64) - 1


def stream(*keys):
    """One 64-bit number for a tuple of integers, such as (seed, step, key); neighbours give unrelated streams.

    Each integer is stirred in by the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).

    Examples
    --------
    >>> bool(stream(0, 1) != stream(1, 0))
    True
    """
    state = 0x9E3779B97F4A7C15
    for key in keys:
        state = (state + int(key) + 0x9E3779B97F4A7C15) & WORD
        state = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & WORD
        state = ((state ^ state >> 27) * 0x94D049BB133111EB) & WORD
        state ^= state >> 31
    return np.uint64(state)


@kernel
def stream_of(seed, step, key):
    """`stream(seed, step, key)` within a kernel; all of them uint64."""
    return stirred(stirred(stirred(np.uint64(0x9E3779B97F4A7C15), seed), step), key)


@kernel
def stirred(state, key):
    """One round of `stream`."""
    state += key + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@kernel
def mix(h):
    """A 32-bit finaliser of low bias (Wellons, "lowbias32", 2018): each input bit flips each output bit half of the time."""
    h = np.uint32(h ^ (h >> np.uint32(16)))
    h = np.uint32(h * np.uint32(0x7FEB352D))
    h = np.uint32(h ^ (h >> np.uint32(15)))
    h = np.uint32(h * np.uint32(0x846CA68B))
    return np.uint32(h ^ (h >> np.uint32(16)))


@kernel
def row_key(stream, element):
    """What element `element` of every sample has in common."""
    return mix(np.uint32(np.uint32(stream) + np.uint32(element) * np.uint32(0x9E3779B9)))


@kernel
def column_key(stream, sample):
    """What all elements of sample `sample` (counted in the global batch) have in common."""
    return mix(np.uint32(np.uint32(stream >> np.uint64(32)) + np.uint32(sample) * np.uint32(0x85EBCA6B)))


@kernel
def fill_bits(stream, first, out):
    """out[e, n] = the 32 bits of element e of sample first + n."""
    for e in range(out.shape[0]):
        row = row_key(stream, e)
        for n in range(out.shape[1]):
            out[e, n] = mix(np.uint32(row ^ column_key(stream, first + n)))


def bits(stream, elements, first, count):
    """32 random bits for each element of samples first .. first + count of the global batch.

    Parameters
    ----------
    stream : int
        From `stream(seed, step, key)`.
    elements : int
        Numbers a sample.
    first, count : int
        Which samples of the global batch.

    Returns
    -------
    ndarray of uint32, (elements, count)

    Examples
    --------
    >>> whole = bits(stream(7), 3, 0, 4)
    >>> bool((bits(stream(7), 3, 2, 2) == whole[:, 2:]).all())
    True
    """
    out = np.empty((elements, count), np.uint32)
    fill_bits(np.uint64(stream), first, out)
    return out


def uniform(stream, elements, first, count):
    """The same as float32 in [0, 1): multiples of 2^-24."""
    return (bits(stream, elements, first, count) >> np.uint32(8)).astype(np.float32) * np.float32(2**-24)


@kernel
def shuffle(stream, order):
    """Fisher and Yates: swap each place with one of those before it (or itself), drawn with 64 bits."""
    for i in range(order.size - 1, 0, -1):
        high = np.uint64(mix(np.uint32(row_key(stream, i) ^ column_key(stream, 0))))
        low = np.uint64(mix(np.uint32(row_key(stream, i) ^ column_key(stream, 1))))
        j = np.int64(((high << np.uint64(32)) | low) % np.uint64(i + 1))
        order[i], order[j] = order[j], order[i]


def permutation(total, *keys):
    """A random order of 0 .. total-1 that depends on the keys alone, such as (seed, epoch).

    Returns
    -------
    ndarray of int64, (total,)

    Examples
    --------
    >>> sorted(permutation(5, 0, 1).tolist())
    [0, 1, 2, 3, 4]
    """
    order = np.arange(total, dtype=np.int64)
    shuffle(stream(*keys), order)
    return order
