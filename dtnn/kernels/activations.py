"""ReLU and its gradient, and the sum over the batch that is the gradient of a bias: one pass each, any float type.

A NaN stays a NaN: `0 if x <= 0 else x`, not `x if x > 0 else 0`.
"""

from .cache import kernel
from .tape import call


def relu(x, y):
    """y = max(0, x)"""
    call(relu_pass, x.reshape(-1), y.reshape(-1), x.dtype.type(0))


def mask_delta(dy, y):
    """dy = 0 where y is not positive, in place."""
    call(mask_pass, dy.reshape(-1), y.reshape(-1), dy.dtype.type(0))


def sum_delta(dy, y, dbias):
    """dy (D, ..., N) = 0 where y is not positive (unless y is None); dbias (D,) += the sums of dy (unless it is None)."""
    if dbias is None:
        if y is not None:
            mask_delta(dy, y)
        return
    if y is None:
        call(sum_pass, dy.reshape(len(dy), -1), dbias)
    else:
        call(mask_and_sum_pass, dy.reshape(len(dy), -1), y.reshape(len(y), -1), dbias, dy.dtype.type(0))


@kernel
def relu_pass(x, y, zero):
    for i in range(x.size):
        y[i] = zero if x[i] <= 0 else x[i]


@kernel
def mask_pass(dy, y, zero):
    for i in range(y.size):
        dy[i] = dy[i] if y[i] > 0 else zero


@kernel
def sum_pass(dy, dbias):
    for d in range(dy.shape[0]):
        s = dbias[d]
        for n in range(dy.shape[1]):
            s += dy[d, n]
        dbias[d] = s


@kernel
def mask_and_sum_pass(dy, y, dbias, zero):
    for d in range(dy.shape[0]):
        s = dbias[d]
        for n in range(dy.shape[1]):
            u = dy[d, n] if y[d, n] > 0 else zero
            dy[d, n] = u
            s += u
        dbias[d] = s
