"""`Conv2d`: the two-dimensional convolution (without turning the filter, as everywhere in the field)."""

import numpy as np

from ..kernels import conv_direct, conv_plain
from ..kernels.activations import sum_delta
from ..kernels.conv_plan import Window
from .init import initialiser
from .layer import Layer, Parameter, keeps_weights
from .numbers import pair, whole
from .passes import Pass, checked


class Conv2d(Layer):
    """y[m, i, j, n] = b[m] + sum over c, h, k of W[m, c, h, k] x[c, i SH - PH + h, j SW - PW + k, n].

    x (C, H, W, N), W (M, C, KH, KW), y (M, HO, WO, N) with HO = floor((H + 2 PH - KH) / SH) + 1; x is 0 outside the image.

    Parameters
    ----------
    channels : int
        M, the number of filters; C is found when the layer is built.
    kernel_size : int or (int, int)
        (KH, KW)
    stride : int or (int, int)
        (SH, SW)
    padding : int, (int, int) or "same"
        (PH, PW), on both sides; "same": y is as large as x (only with stride 1; an odd rest goes below and to the right).
    bias : bool
    init : str or function (rng, shape) -> array
        First values of W, such as "he_uniform", see `dtnn.nn.init`; the bias starts at zero.

    Raises
    ------
    ValueError, TypeError
        For a size below 1, a negative padding, "same" with a stride; when built, if the window is larger than the image.

    Notes
    -----
    M C KH KW + M parameters; 2 M C KH KW HO WO N floating-point operations forward, twice as many backward.  A ReLU that
    follows is free.

    Examples
    --------
    >>> layer = Conv2d(6, 5, padding=2)
    >>> layer.build((1, 28, 28), np.random.default_rng(0))
    (6, 28, 28)
    >>> layer(np.ones((1, 28, 28, 3), np.float32)).shape
    (6, 28, 28, 3)
    """

    def __init__(self, channels, kernel_size, stride=1, padding=0, bias=True, init="he_uniform"):
        self.channels = whole(channels, "channels", "Conv2d")
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self._size, self._stride = pair(kernel_size, "kernel_size", "Conv2d"), pair(stride, "stride", "Conv2d")
        self._margins = margins(padding, self._size, self._stride)
        self.weight, self.bias, self.init = None, bias, init
        initialiser(init, "Conv2d")

    def build(self, shape, rng):
        """(C, H, W) -> (M, HO, WO)"""
        if len(shape) != 3:
            raise ValueError(
                f"{self!r} takes samples of shape (C, H, W), but gets {tuple(shape)}; convolutions come before Flatten()"
            )
        weight = (self.channels, shape[0], *self._size)
        height_and_width = self._output(shape)
        if not keeps_weights(self, weight):
            self.weight = Parameter(initialiser(self.init, type(self).__name__)(rng, weight))
            self.bias = Parameter(np.zeros(self.channels), decay=False) if self.bias else None
        return (self.channels, *height_and_width)

    def _output(self, shape):
        """(HO, WO) for an image of (C, H, W)"""
        room = [shape[k + 1] + sum(self._margins[k]) - self._size[k] for k in range(2)]
        if min(room) < 0:
            padded = tuple(shape[k + 1] + sum(self._margins[k]) for k in range(2))
            raise ValueError(
                f"{self!r} has a window of {self._size}, but the image is {tuple(shape[1:])} ({padded} with its padding); "
                f"use a smaller kernel_size or more padding"
            )
        return tuple(r // s + 1 for r, s in zip(room, self._stride))

    def forward(self, x, step=None, relu=False):
        """y, backward; with `relu` y = max(0, W * x + b)."""
        step = step or Pass()
        weight, bias, first = self.weight, self.bias, step.is_input(x)
        x = checked(x, (weight.value.shape[1], *x.shape[1:3]), self, step, weight.value.dtype)
        y = step.empty((self.channels, *self._output(x.shape[:3]), x.shape[3]), x.dtype)
        window = Window(self._stride, (self._margins[0][0], self._margins[1][0]))
        algorithm = conv_direct if x.dtype == np.float32 else conv_plain
        algorithm.forward(x, weight.value, bias.value if bias else None, y, window, relu)

        def backward(dy, into=None):
            dy = checked(dy, y.shape[:-1], self, step, x.dtype)
            masked, dbias = y if relu else None, bias.grad if bias and bias.learns else None
            if weight.learns:
                algorithm.filter_gradient(x, dy, masked, weight.grad, dbias, window, back=not first)
            else:
                sum_delta(dy, masked, dbias)
            if first:
                return None
            dx = step.empty(x.shape, x.dtype) if into is None else into
            algorithm.data_gradient(dy, weight.value, dx, window, adds=into is not None)
            return dx

        return y, backward


def margins(padding, size, stride):
    """((above, below), (left, right)) of `padding`.

    Examples
    --------
    >>> margins("same", (3, 4), (1, 1))
    ((1, 1), (1, 2))
    """
    if isinstance(padding, str):
        if padding != "same":
            raise ValueError(f"Conv2d: padding is {padding!r}; it must be an integer, two of them, or 'same'")
        if stride != (1, 1):
            raise ValueError(
                f"Conv2d: padding='same' goes with stride 1 only, but stride is {stride}; give the padding as numbers"
            )
        return tuple(((k - 1) // 2, k // 2) for k in size)
    return tuple((p, p) for p in pair(padding, "padding", "Conv2d", least=0))
