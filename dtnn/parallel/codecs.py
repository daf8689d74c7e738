"""Short codes for gradients: `encode_...` makes bytes of an array, `add_...` adds to an array what the bytes stand for."""

import math

import numpy as np


def encode_top_k(array, keep):
    """The places (int32) and values of the ceil(keep n) numbers of the largest size.

    >>> sent = np.zeros(3)
    >>> add_top_k(sent, encode_top_k(np.array([0.1, -3.0, 2.0]), 0.6))
    >>> sent.tolist()
    [0.0, -3.0, 2.0]
    """
    count = math.ceil(keep * array.size)
    if count == array.size:
        places = np.arange(array.size, dtype=np.int32)
    else:
        places = np.sort(np.argpartition(np.abs(array), array.size - count)[array.size - count :]).astype(np.int32)
    return np.concatenate([places.view(np.uint8), array[places].view(np.uint8)])


def add_top_k(array, code):
    """Places are unique, so that each number is added once."""
    count = code.size // (4 + array.itemsize)
    places, values = _split(code, 4 * count)
    array[places.view(np.int32)] += values.view(array.dtype)


def encode_int8(array):
    """The scale max|a| / 127, and the nearest multiple of it for each number; none of a scale that is no normal number.

    >>> sent = np.zeros(3)
    >>> add_int8(sent, encode_int8(np.array([1.27, -0.5, 0.004])))
    >>> sent.round(6).tolist()
    [1.27, -0.5, 0.0]
    """
    scale = _largest(array) / array.dtype.type(127)
    multiples = np.rint(array / scale) if scale >= np.finfo(array.dtype).tiny else np.zeros_like(array)
    return np.concatenate([_bytes_of(scale, array), multiples.astype(np.int8).view(np.uint8)])


def add_int8(array, code):
    """Multiples times the scale."""
    scale, multiples = _split(code, array.itemsize)
    array += multiples.view(np.int8) * scale.view(array.dtype)[0]


def encode_fp16(array):
    """Half precision; what is larger than its largest number, 65504, becomes that.

    >>> sent = np.zeros(2)
    >>> add_fp16(sent, encode_fp16(np.array([0.5, 1e9])))
    >>> sent.tolist()
    [0.5, 65504.0]
    """
    return np.clip(array, -65504, 65504).astype(np.float16).view(np.uint8)


def add_fp16(array, code):
    """In the array's own precision."""
    array += np.ascontiguousarray(code).view(np.float16)


def encode_sign(array):
    """The mean size, and a bit for each number: whether it is not negative.

    >>> sent = np.zeros(3)
    >>> add_sign(sent, encode_sign(np.array([3.0, -1.0, 2.0])))
    >>> sent.tolist()
    [2.0, -2.0, 2.0]
    """
    scale = np.abs(array).mean(dtype=np.float64) if array.size else 0.0
    return np.concatenate([_bytes_of(scale, array), np.packbits(array >= 0)])


def add_sign(array, code):
    """Plus or minus the mean size."""
    scale, bits = _split(code, array.itemsize)
    size = scale.view(array.dtype)[0]
    array += np.where(np.unpackbits(bits, count=array.size), size, -size)


def _split(code, place):
    """Both parts of a code, at the start of memory of their own, as a view of another type needs it."""
    return code[:place].copy(), code[place:].copy()


def _bytes_of(number, array):
    return np.array([number], array.dtype).view(np.uint8)


def _largest(array):
    return np.abs(array).max(initial=array.dtype.type(0))
