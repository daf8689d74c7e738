"""`MaxPool2d`: the largest value of each window."""

import numpy as np

from ..allowed import flag
from ..kernels import pooling, pooling_plain
from ..kernels.parts import parts_for, run
from .build_checks import check_samples
from .layer import Layer
from .numbers import pair, plain
from .passes import Pass, checked, joined


class MaxPool2d(Layer):
    """y[c, i, j, n] = largest x[c, i SH - PH + h, j SW - PW + k, n] with 0 <= h < KH, 0 <= k < KW, inside the image.

    x (C, H, W, N), y (C, HO, WO, N) with HO = floor((H + 2 PH - KH) / SH) + 1.  The gradient goes to the first maximum.

    Parameters
    ----------
    kernel_size : int or (int, int)
        (KH, KW)
    stride : int or (int, int), optional
        (SH, SW); None: the kernel size.
    padding : int or (int, int)
        (PH, PW) on both sides, at most half of the kernel; counts as -infinity.
    ceil_mode : bool
        Round the size of the output up instead of down: the last window may reach past the image (and must begin inside).

    Notes
    -----
    A pass over x each way; a ReLU before or after it is free.  Scherer, Müller and Behnke, "Evaluation of pooling operations in
    convolutional architectures for object recognition", 2010.

    Examples
    --------
    >>> layer = MaxPool2d(2)
    >>> layer.build((6, 28, 28), None)
    (6, 14, 14)
    """

    replays = True

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False):
        flag("MaxPool2d: ceil_mode", ceil_mode)
        self.kernel_size, self.stride, self.padding = map(plain, (kernel_size, stride, padding))
        self.ceil_mode = ceil_mode
        self._size, self._stride, self._padding = pool_window("MaxPool2d", kernel_size, stride, padding)

    def build(self, shape, rng):
        """(C, H, W) -> (C, HO, WO)"""
        check_samples(self, shape, "(C, H, W)", "pooling comes before Flatten()")
        return (shape[0], *pool_output(self, shape))

    def forward(self, x, step=None, relu=False, over=False):
        """y, backward; relu: y = max(0, y); over: nobody needs x any more, so dx may be written over it."""
        step = step or Pass()
        x = checked(x, (x.shape[0], *x.shape[1:3]), self, step)
        y = step.empty((x.shape[0], *pool_output(self, x.shape[:3]), x.shape[3]), x.dtype)
        window = self._size, self._stride, self._padding
        largest(x, y, window, relu)
        tiles = self._size == self._stride and self._padding == (0, 0) and all(
            x.shape[k] == y.shape[k] * self._size[k - 1] for k in (1, 2)
        )  # fmt: skip

        def backward(dy, into=None):
            dy = checked(dy, y.shape[:-1], self, step, x.dtype)
            dx = x if over and tiles else step.empty(x.shape, x.dtype)
            spread_gradient(x, y, dy, window, relu, tiles, dx)
            return joined(dx, into)

        return y, backward


def largest(x, y, window, relu):
    """The kernel for float32, NumPy for float64."""
    if x.dtype == np.float32:
        floor = np.float32(0 if relu else -np.inf)
        run(pooling.max_pool, parts_for(10 * x.size), x.reshape(-1), x.shape, y.reshape(-1), y.shape, *window, floor)
    else:
        pooling_plain.max_pool(x, y, *window, relu)


def spread_gradient(x, y, dy, window, relu, tiles, dx):
    """The same for the gradient."""
    if x.dtype == np.float32:
        run(
            pooling.max_pool_gradient, parts_for(10 * x.size),
            x.reshape(-1), x.shape, y.reshape(-1), dy.reshape(-1), y.shape, *window, relu, tiles, dx.reshape(-1),
        )  # fmt: skip
    else:
        pooling_plain.max_pool_gradient(x, y, dy, *window, relu, dx)


def pool_window(name, kernel_size, stride, padding):
    """(size, stride, padding) as pairs.

    Raises
    ------
    ValueError, TypeError
        For sizes below 1, or a padding of more than half the kernel.
    """
    size, padding = pair(kernel_size, "kernel_size", name), pair(padding, "padding", name, least=0)
    stride = size if stride is None else pair(stride, "stride", name)
    if any(2 * p > k for p, k in zip(padding, size)):
        raise ValueError(
            f"{name}: padding {padding} is more than half of kernel_size {size}, so a window could lie outside; use less"
        )
    return size, stride, padding


def pool_output(layer, shape):
    """(HO, WO) for an image of (C, H, W)."""
    result = []
    for extent, size, stride, padding in zip(shape[1:], layer._size, layer._stride, layer._padding):
        room = extent + 2 * padding - size
        count = (-(-room // stride) if layer.ceil_mode else room // stride) + 1
        if layer.ceil_mode and (count - 1) * stride >= extent + padding:
            count -= 1  # the last window must begin inside the image
        if count < 1 or extent < 1:
            raise ValueError(
                f"{layer!r} has a window of {layer._size}, but the image is {tuple(shape[1:])}; use a smaller kernel_size, "
                f"or fewer pooling layers before it"
            )
        result.append(count)
    return tuple(result)
