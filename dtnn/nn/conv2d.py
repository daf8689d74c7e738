"""`Conv2d`: the two-dimensional convolution (without turning the filter, as everywhere in the field)."""

import numpy as np

from ..allowed import flag
from ..kernels import conv_depthwise, conv_direct, conv_im2col, conv_plain, conv_winograd
from ..kernels.activations import sum_delta
from ..kernels.conv_plan import Window
from .build_checks import check_samples, keeps_weights
from .first_values import first_bias, first_values, initialiser
from .layer import Layer, Parameter
from .numbers import margins, pair, plain, whole
from .outputs_only import outputs_only
from .passes import Pass, checked

ALGORITHMS = {"direct": conv_direct, "im2col": conv_im2col, "winograd": conv_winograd}


class Conv2d(Layer):
    """y[m, i, j, n] = b[m] + sum over c, h, k of W[m, c, h, k] x[c, i SH - PH + h DH, j SW - PW + k DW, n].

    x (C, H, W, N), W (M, C / groups, KH, KW), y (M, HO, WO, N), HO = floor((H + 2 PH - DH (KH - 1) - 1) / SH) + 1; x is 0 outside
    the image.

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
    dilation : int or (int, int)
        (DH, DW), distance of the taps.
    groups : int
        Divides C and M; each group of filters sees its group of channels alone.  groups = C: depthwise.
    bias : bool
        Whether there is a b; without one b = 0, as before a BatchNorm2d, which has its own.
    init : str or function (rng, shape) -> array
        First values of W, such as "he_uniform", see `dtnn.nn.init`.
    bias_init : str or function (rng, shape) -> array
        First values of b, such as `Constant(0.1)`.
    algorithm : str
        "direct", "im2col", "winograd" (3 x 3, stride 1), or "auto": Winograd from 16 channels on where it can and pays, else
        direct; a depthwise one has kernels of its own.
        Of the largest number, the direct sum errs by 4e-6 at most, Winograd by 1e-5 with up to 64 channels and 2.5e-5 with
        512 (measured on normal numbers, against float64).  In float64 all but "im2col" are the plain loops.
    exact : bool
        True: "auto" never takes Winograd, whose rounding errors are about 7 times those of the direct sum, in the
        gradient of W up to 60 times.

    Raises
    ------
    ValueError, TypeError
        For a size below 1, a negative padding, "same" with a stride; when built, if the window is larger than the image or
        the groups don't divide the channels.

    Notes
    -----
    M (C / groups) KH KW + M parameters; 2 M (C / groups) KH KW HO WO N floating-point operations forward, twice as many
    backward; Winograd multiplies a quarter as often.  A ReLU that follows is free.  LeCun, Bottou, Bengio and Haffner,
    "Gradient-based learning applied to document recognition", 1998; Lavin and Gray, "Fast algorithms for convolutional neural
    networks", 2016.

    Examples
    --------
    >>> layer = Conv2d(6, 5, padding=2)
    >>> layer.build((1, 28, 28), np.random.default_rng(0))
    (6, 28, 28)
    >>> layer(np.ones((1, 28, 28, 3), np.float32)).shape
    (6, 28, 28, 3)
    """

    @outputs_only
    def __init__(
        self, channels, kernel_size, *, stride=1, padding=0, dilation=1, groups=1, bias=True, init="he_uniform",
        bias_init="zeros", algorithm="auto", exact=False,
    ):  # fmt: skip
        self.channels, self.groups = whole(channels, "channels", "Conv2d"), whole(groups, "groups", "Conv2d")
        self.kernel_size, self.stride, self.padding, self.dilation = map(plain, (kernel_size, stride, padding, dilation))
        self._size, self._stride = pair(kernel_size, "kernel_size", "Conv2d"), pair(stride, "stride", "Conv2d")
        self._dilation = pair(dilation, "dilation", "Conv2d")
        self._margins = margins(padding, self._size, self._stride, self._dilation)
        self._window = Window(self._stride, (self._margins[0][0], self._margins[1][0]), self._dilation)
        self.weight, self.bias, self.init, self.bias_init = None, bias, init, bias_init
        self.algorithm, self.exact = algorithm, exact
        flag("Conv2d: bias", bias)
        flag("Conv2d: exact", exact)
        initialiser(init, "Conv2d")
        initialiser(bias_init, "Conv2d: bias_init")
        check_algorithm(self)

    def build(self, shape, rng):
        """(C, H, W) -> (M, HO, WO)"""
        check_samples(self, shape, "(C, H, W)", "convolutions come before Flatten()")
        if shape[0] % self.groups or self.channels % self.groups:
            raise ValueError(
                f"{self!r}: groups {self.groups} must divide the {shape[0]} channels of the input and the {self.channels} of "
                f"the output"
            )
        height_and_width = self._output(shape)
        weight = (self.channels, shape[0] // self.groups, *self._size)
        if not keeps_weights(self, weight):
            self.weight = Parameter(first_values(self.init, "Conv2d", rng, weight, self.groups))
            self.bias = first_bias(self, rng, self.channels)
        return (self.channels, *height_and_width)

    def _output(self, shape):
        """(HO, WO) for an image of (C, H, W)"""
        extents = [(k - 1) * d + 1 for k, d in zip(self._size, self._dilation)]
        room = [shape[k + 1] + sum(self._margins[k]) - extents[k] for k in range(2)]
        if min(room) < 0:
            padded = tuple(shape[k + 1] + sum(self._margins[k]) for k in range(2))
            raise ValueError(
                f"{self!r} has a window of {tuple(extents)}, but the image is {tuple(shape[1:])} ({padded} with its padding); "
                f"use a smaller kernel_size or more padding"
            )
        return tuple(r // s + 1 for r, s in zip(room, self._stride))

    def _kernels(self, y):
        """The module that does the work."""
        if self.algorithm == "im2col":
            return conv_im2col
        if y.dtype != np.float32:
            return conv_plain
        if self.algorithm != "auto":
            return ALGORITHMS[self.algorithm]
        shape = (self.channels // self.groups, *self.weight.value.shape[1:])
        if self.groups > 1 and shape[1] == 1:
            return conv_depthwise
        fast = not self.exact and conv_winograd.suits(shape, self._window) and conv_winograd.pays(shape, y.shape)
        return conv_winograd if fast else conv_direct

    @property
    def replays(self):
        """Not with "im2col", which is NumPy's."""
        return self.algorithm != "im2col"

    def forward(self, x, step=None, relu=False):
        """y, backward; with `relu` y = max(0, W * x + b)."""
        step = step or Pass()
        weight, bias, first = self.weight, self.bias, step.is_input(x)
        w, b = weight.value, bias.value if bias else None
        x = checked(x, (w.shape[1] * self.groups, *x.shape[1:3]), self, step, w.dtype)
        y = step.empty((self.channels, *self._output(x.shape[:3]), x.shape[3]), x.dtype)
        algorithm, window = self._kernels(y), self._window
        parts = group_parts(1 if algorithm is conv_depthwise else self.groups, len(x), len(y))
        for c, m in parts:
            algorithm.forward(x[c], w[m], None if b is None else b[m], y[m], window, relu)

        def backward(dy, into=None):
            dy = checked(dy, y.shape[:-1], self, step, x.dtype)
            dbias = bias.grad if bias and bias.learns else None
            if not weight.learns:
                sum_delta(dy, y if relu else None, dbias)
            dx = None
            if not first:
                dx = step.empty(x.shape, x.dtype) if into is None else into
            for c, m in parts:
                if weight.learns:
                    db = None if dbias is None else dbias[m]
                    algorithm.filter_gradient(x[c], dy[m], y[m] if relu else None, weight.grad[m], db, window, back=not first)
                if not first:
                    algorithm.data_gradient(dy[m], w[m], dx[c], window, adds=into is not None)
            return dx

        return y, backward


def group_parts(groups, inputs, outputs):
    """(input channels, output channels) of each group."""
    if groups == 1:
        return ((..., ...),)
    c, m = inputs // groups, outputs // groups
    return [(slice(g * c, (g + 1) * c), slice(g * m, (g + 1) * m)) for g in range(groups)]


def check_algorithm(layer):
    """ValueError for an algorithm that doesn't exist, or can't do this convolution."""
    known = ("auto", *ALGORITHMS)
    if layer.algorithm not in known:
        raise ValueError(f"Conv2d: algorithm is {layer.algorithm!r}; it must be one of {', '.join(map(repr, known))}")
    if layer.algorithm == "winograd" and (layer.exact or not conv_winograd.suits((0, 0, *layer._size), layer._window)):
        raise ValueError(
            f"Conv2d: algorithm='winograd' is for kernel_size 3, stride 1, dilation 1 and not exact, but got kernel_size "
            f"{layer._size}, stride {layer._stride}, dilation {layer._dilation}, exact={layer.exact}; use algorithm='auto'"
        )
