"""`BatchNorm2d`, `BatchNorm1d`: normalise each channel over the batch."""

import math
from numbers import Real

import numpy as np

from ..allowed import flag
from ..kernels import normalization as kernels
from ..kernels.parts import parts_for, run
from ..kernels.tape import call
from .build_checks import check_samples, keeps_weights
from .layer import Layer, Parameter
from .numbers import plain
from .passes import Pass, checked, joined


class BatchNorm2d(Layer):
    """y = weight (x - mean) / sqrt(var + eps) + bias, for x, y (C, H, W, N); mean, var (C,) over the batch and the pixels.

    In inference, and in nothing else, mean and var are the running ones: running = (1 - momentum) running + momentum batch.

    Parameters
    ----------
    eps : float
        Added to the variance, so that nothing is divided by 0; in [0, 1].
    momentum : float
        Share of the new batch in the running statistics, in [0, 1].
    sync : bool
        Statistics over the batches of all ranks (a small reduction forward and one backward), so that P ranks do what one
        does.  Without it each rank has its own statistics, as usual in the field.

    Notes
    -----
    2 C parameters, without weight decay.  var is that of the population to normalise with, and of the sample
    (divided by n - 1) in the running one, as in PyTorch.  Two passes over x forward, two backward; a ReLU that follows,
    and the sum of a Residual, are free.  Ioffe and Szegedy, "Batch normalization", 2015.

    Examples
    --------
    >>> layer = BatchNorm2d()
    >>> layer.build((3, 4, 4), None)
    (3, 4, 4)
    >>> y, backward = layer.forward(np.random.default_rng(0).random((3, 4, 4, 8), np.float32))
    >>> bool(abs(y.mean((1, 2, 3))).max() < 1e-5)
    True
    """

    buffers = ("running_mean", "running_var")

    def __init__(self, eps=1e-5, momentum=0.1, sync=False):
        self.eps, self.momentum, self.sync = plain(eps), plain(momentum), sync
        for name, value in (("eps", eps), ("momentum", momentum)):
            if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= value <= 1:
                raise ValueError(f"{type(self).__name__}: {name} is {value!r}; it must be a number in [0, 1]")
        flag(f"{type(self).__name__}: sync", sync)
        self.weight = self.bias = None

    def build(self, shape, rng):
        """(C, H, W), unchanged"""
        check_samples(self, shape, "(C, H, W)", "use BatchNorm1d() for rows")
        return make_parameters(self, shape)

    def forward(self, x, step=None, relu=False, added=None):
        """y, backward; relu: y = max(0, y); added: an array that is added before that.

        With `added`, backward masks dy in place, so that dy is the gradient of `added` afterwards, and returns dx in
        another buffer.
        """
        step = step or Pass()
        weight, bias = self.weight.value, self.bias.value
        x = checked(x, (len(weight), *x.shape[1:-1]), self, step, weight.dtype)
        y, flat = step.empty(x.shape, x.dtype), (len(weight), x.size // len(weight))
        v, zero, adds = x.reshape(flat), x.dtype.type(0), added is not None
        e, z = (added if adds else x).reshape(flat), y.reshape(flat)
        if not step.training:
            inverse = step.empty((len(weight),), x.dtype)
            call(self._inverse_deviation, inverse)
            divided(kernels.normalize, v, weight, bias, self.running_mean, inverse, e, adds, relu, z, zero)
            return y, None
        mean, inverse, variance = (step.empty((len(weight),), x.dtype) for _ in range(3))
        count = flat[1]
        if self.sync:
            count = self._statistics(v, step, mean, inverse, variance)
            divided(kernels.normalize, v, weight, bias, mean, inverse, e, adds, relu, z, zero)
        elif count:
            divided(kernels.batch_norm, v, weight, bias, x.dtype.type(self.eps), e, adds, relu, z, mean, inverse, variance, zero)
        call(self._run, mean, variance, count, z)

        def backward(dy, into=None):
            dy = checked(dy, x.shape[:-1], self, step, x.dtype)
            dx = step.empty(x.shape, x.dtype) if adds else dy
            mask = v, weight, bias, mean, inverse
            self._gradient(mask, z, relu, adds and relu, adds, dy.reshape(flat), dx.reshape(flat), count, step, zero)
            return joined(dx, into)

        return y, backward

    @property
    def replays(self):
        """Not with statistics of all ranks, for which it communicates."""
        return not self.sync

    def _inverse_deviation(self, inverse):
        inverse[...] = 1 / np.sqrt(self.running_var + self.eps)

    def _statistics(self, v, step, mean, inverse, variance):
        """Mean and variance over the batches of all ranks: first the sum, then the squares of the distances from the mean."""
        sums, squares = np.zeros(len(v) + 1), np.zeros(len(v) + 1)
        divided(kernels.channel_sums, v, np.zeros(len(v)), sums, squares)
        sums[-1] = v.shape[1]
        step.sum_over_ranks(sums)
        centre = sums[:-1] / max(1, sums[-1])
        divided(kernels.channel_sums, v, centre, np.zeros(len(v)), squares)
        step.sum_over_ranks(squares)
        mean[...] = centre
        with np.errstate(over="ignore"):  # seen by `_run`
            variance[...] = squares[:-1] / max(1, sums[-1])
        inverse[...] = 1 / np.sqrt(squares[:-1] / max(1, sums[-1]) + self.eps)
        return sums[-1]

    def _run(self, mean, variance, count, z):
        """Move the running statistics; a share without samples leaves them.

        Where the variance is infinite all has become 0 in z, which looks finite, and is not.
        """
        if count:
            m = self.momentum
            self.running_mean[...] = (1 - m) * self.running_mean + m * mean
            self.running_var[...] = (1 - m) * self.running_var + m * variance * (count / max(1, count - 1))
            if not math.isfinite(self.running_var.max()):
                z[~np.isfinite(self.running_var)] = np.nan

    def _gradient(self, known, z, masked, by_z, apart, d, o, count, step, zero):
        """dx in d, or in o if it is to be apart; adds to the gradients of weight and bias."""
        dweight, dbias = self.weight.grad, self.bias.grad
        if not self.weight.learns:
            dweight, dbias = np.zeros_like(dweight), np.zeros_like(dbias)
        if not self.sync:
            divided(kernels.batch_norm_gradient, *known, z, masked, by_z, apart, d, o, dweight, dbias, zero)
            return
        sums = np.zeros((2, len(d)))
        divided(kernels.gradient_sums, *known, z, masked, by_z, d, *sums, zero)
        dbias += sums[0]
        dweight += sums[1] * known[-1]
        step.sum_over_ranks(sums)
        sums, count = sums.astype(d.dtype), d.dtype.type(count)
        divided(kernels.gradient_from_sums, *known, *sums, count, masked, by_z, apart, d, o, zero)


class BatchNorm1d(Layer):
    """The same for rows: x, y (D, N) or (D, T, N), mean and var (D,); see `BatchNorm2d`.

    Notes
    -----
    2 D parameters, without weight decay; two passes over x forward, two backward.  Ioffe and Szegedy, "Batch normalization",
    2015.

    Examples
    --------
    >>> BatchNorm1d().build((128,), None)
    (128,)
    """

    buffers = BatchNorm2d.buffers
    __init__ = BatchNorm2d.__init__
    forward, _statistics, _run, _gradient = BatchNorm2d.forward, BatchNorm2d._statistics, BatchNorm2d._run, BatchNorm2d._gradient
    replays, _inverse_deviation = BatchNorm2d.replays, BatchNorm2d._inverse_deviation

    def build(self, shape, rng):
        """(D,) or (D, T), unchanged"""
        check_samples(self, shape, "(D,) or (D, T)", "use BatchNorm2d() for images")
        return make_parameters(self, shape)


def divided(kernel, x, *arguments):
    """A kernel on the channels of x (C, P)."""
    run(kernel, parts_for(20 * x.size), x, *arguments)


def make_parameters(layer, shape):
    """weight 1, bias 0, running mean 0 and variance 1, for each of the C channels."""
    if not keeps_weights(layer, tuple(shape[:1])):
        layer.weight, layer.bias = Parameter(np.ones(shape[0]), decay=False), Parameter(np.zeros(shape[0]), decay=False)
        layer.running_mean, layer.running_var = np.zeros(shape[0], np.float32), np.ones(shape[0], np.float32)
    return tuple(shape)
