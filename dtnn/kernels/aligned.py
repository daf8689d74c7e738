"""Arrays as the kernels like them: they begin at a cache line and may be read 16 numbers past their end."""

import math

import numpy as np

LINE = 64  # bytes
SLACK = 16  # numbers


def aligned(shape, dtype=np.float32):
    """Zeros that begin at a cache line, with 16 numbers of readable slack behind them.

    A kernel works on 16 images at once; where the batch is no multiple of 16, its last vector reads past the end.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, default float32

    Returns
    -------
    ndarray
        C-contiguous, zero.

    Examples
    --------
    >>> a = aligned((3, 5))
    >>> a.shape, a.ctypes.data % 64
    ((3, 5), 0)
    """
    dtype = np.dtype(dtype)
    size = math.prod(shape) if isinstance(shape, tuple) else shape
    memory = np.empty((size + SLACK) * dtype.itemsize + LINE, np.uint8)  # from 4 MiB on in huge pages, which np.zeros isn't
    memory[:] = 0
    start = -memory.ctypes.data % LINE
    return memory[start : start + size * dtype.itemsize].view(dtype).reshape(shape)


def has_slack(array):
    """Whether 16 numbers behind a C-contiguous array belong to the same memory, so that they may be read.

    Examples
    --------
    >>> has_slack(aligned(5)), has_slack(np.zeros(5))
    (True, False)
    """
    owner = array.base
    if not isinstance(owner, np.ndarray) or not owner.flags.c_contiguous:
        return False
    end = array.ctypes.data + array.nbytes + SLACK * array.itemsize
    return end <= owner.ctypes.data + owner.nbytes
