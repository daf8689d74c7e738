"""`AvgPool2d`, `AdaptiveAvgPool2d`, `GlobalAvgPool2d`: the mean of each window."""

import numpy as np

from ..allowed import flag
from ..kernels.averages import average, average_gradient
from ..kernels.tape import call
from .build_checks import check_samples
from .layer import Layer
from .numbers import pair, plain
from .passes import Pass, checked, joined
from .pooling import MaxPool2d, pool_output, pool_window


class AvgPool2d(Layer):
    """y[c, i, j, n] = mean of x[c, i SH - PH + h, j SW - PW + k, n], 0 <= h < KH, 0 <= k < KW.

    x (C, H, W, N), y (C, HO, WO, N) with HO = floor((H + 2 PH - KH) / SH) + 1.

    Parameters
    ----------
    kernel_size : int or (int, int)
        (KH, KW)
    stride : int or (int, int), optional
        (SH, SW); None: the kernel size.
    padding : int or (int, int)
        (PH, PW), zeros on both sides, at most half of the kernel.
    ceil_mode : bool
        Round the size of the output up: the last window may reach past the image.
    count_include_pad : bool
        Divide by the number of pixels with the padding (what `ceil_mode` adds beyond it never counts), or without.

    Notes
    -----
    KH KW C HO WO N additions each way: one pass over x where windows don't overlap.  LeCun, Bottou, Bengio and Haffner,
    "Gradient-based learning applied to document recognition", 1998.

    Examples
    --------
    >>> AvgPool2d(2).build((6, 28, 28), None)
    (6, 14, 14)
    """

    replays, build = True, MaxPool2d.build

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        self.kernel_size, self.stride, self.padding = map(plain, (kernel_size, stride, padding))
        self.ceil_mode = flag("AvgPool2d: ceil_mode", ceil_mode)
        self.count_include_pad = flag("AvgPool2d: count_include_pad", count_include_pad)
        self._size, self._stride, self._padding = pool_window("AvgPool2d", kernel_size, stride, padding)

    def forward(self, x, step=None):
        """y, backward"""
        limits, counts = [], []
        for k, outputs in enumerate(pool_output(self, x.shape[:3])):
            extent, p = x.shape[k + 1], self._padding[k]
            low = np.arange(outputs) * self._stride[k] - p
            high = low + self._size[k]
            limits.append(np.array([np.maximum(low, 0), np.minimum(high, extent)]))
            padded = np.minimum(high, extent + p) - low
            counts.append(padded if self.count_include_pad else limits[-1][1] - limits[-1][0])
        return average_over(self, x, limits, counts, step)


class AdaptiveAvgPool2d(Layer):
    """An output of a given size, from windows as equal as can be: row i is the mean of floor(i H / HO) to ceil((i + 1) H / HO).

    x (C, H, W, N), y (C, HO, WO, N)

    Parameters
    ----------
    output_size : int or (int, int)
        (HO, WO)

    Notes
    -----
    A pass over x each way, a little more where windows overlap.  As in He, Zhang, Ren and Sun, "Spatial pyramid pooling in deep
    convolutional networks", 2014.

    Examples
    --------
    >>> AdaptiveAvgPool2d((3, 2)).build((6, 7, 7), None)
    (6, 3, 2)
    """

    replays = True

    def __init__(self, output_size):
        self.output_size = plain(output_size)
        self._output = pair(output_size, "output_size", "AdaptiveAvgPool2d")

    def build(self, shape, rng):
        """(C, H, W) -> (C, HO, WO)"""
        check_samples(self, shape, "(C, H, W)", "pooling comes before Flatten()")
        return (shape[0], *self._output)

    def forward(self, x, step=None):
        """y, backward"""
        limits = []
        for extent, outputs in zip(x.shape[1:3], self._output):
            i = np.arange(outputs)
            limits.append(np.array([i * extent // outputs, -(-(i + 1) * extent // outputs)]))
        return average_over(self, x, limits, [high - low for low, high in limits], step)


class GlobalAvgPool2d(Layer):
    """y (C, N) = mean of x (C, H, W, N) over all pixels.

    Notes
    -----
    A pass over x each way.  Lin, Chen and Yan, "Network in network", 2014.

    Examples
    --------
    >>> GlobalAvgPool2d().build((64, 8, 8), None)
    (64,)
    """

    replays = True

    def build(self, shape, rng):
        """(C, H, W) -> (C,)"""
        check_samples(self, shape, "(C, H, W)", "pooling comes before Flatten()")
        return (shape[0],)

    def forward(self, x, step=None):
        """y, backward"""
        limits = [np.array([[0], [extent]]) for extent in x.shape[1:3]]
        y, backward = average_over(self, x, limits, [high - low for low, high in limits], step)
        return y.reshape(len(y), -1), lambda dy, into=None: backward(dy.reshape(y.shape), into)


def average_over(layer, x, limits, counts, step):
    """y, backward of the mean over windows given by (first, end) of rows and columns, divided by counts."""
    step = step or Pass()
    x = checked(x, None, layer, step)
    rows, columns = limits
    y = step.empty((len(x), rows.shape[1], columns.shape[1], x.shape[3]), x.dtype)
    scale, zero = (1 / np.multiply.outer(*counts)).astype(x.dtype), x.dtype.type(0)
    call(average, x, rows, columns, scale, y, zero)
    tiles = all(ends[0] == 0 and ends[-1] == x.shape[k + 1] for k, ends in enumerate(map(joints, limits)))

    def backward(dy, into=None):
        dy = checked(dy, y.shape[:-1], layer, step, x.dtype)
        dx = step.empty(x.shape, x.dtype)
        call(average_gradient, dy, rows, columns, scale, tiles, dx, zero)
        return joined(dx, into)

    return y, backward


def joints(limits):
    """First row, last row, if each window begins where the one before ends; else (-1, -1)."""
    low, high = limits
    return (low[0], high[-1]) if (low[1:] == high[:-1]).all() else (-1, -1)
