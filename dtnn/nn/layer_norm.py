"""`LayerNorm`: normalise each sample, or each token, over its features."""

import numpy as np

from ..allowed import number
from ..kernels import layer_norm as kernels
from ..kernels.tape import call
from .build_checks import check_samples, keeps_weights
from .layer import Layer, Parameter
from .numbers import plain
from .passes import Pass, checked, joined


class LayerNorm(Layer):
    """y[d] = weight[d] (x[d] - mean) / sqrt(var + eps) + bias[d]; mean and var over d, for each sample or token by itself.

    y and x (D, N) or (D, T, N)

    Parameters
    ----------
    eps : float
        Above 0; keeps the root from 0.

    Notes
    -----
    2 D parameters, without weight decay.  No statistics are kept: training and inference are the same, and on P ranks too.
    Three passes over x forward and two backward, all but the first from the cache.  Ba, Kiros and Hinton, "Layer normalization",
    2016.

    Examples
    --------
    >>> layer = LayerNorm()
    >>> layer.build((64, 10), None)
    (64, 10)
    """

    replays = True

    def __init__(self, eps=1e-5):
        number("LayerNorm: eps", eps, "a small number above 0, such as 1e-5", lambda eps: 0 < eps < np.inf)
        self.eps, self.weight = plain(eps), None

    def build(self, shape, rng):
        """(D,) or (D, T), unchanged"""
        check_samples(self, shape, "(D,) or (D, T)", "use BatchNorm2d() for images")
        if not keeps_weights(self, (shape[0],)):
            self.weight, self.bias = Parameter(np.ones(shape[0]), decay=False), Parameter(np.zeros(shape[0]), decay=False)
        return tuple(shape)

    def forward(self, x, step=None):
        """y, backward"""
        step = step or Pass()
        weight, bias = self.weight, self.bias
        x = checked(x, (len(weight.value), *x.shape[1:-1]), self, step, weight.value.dtype)
        y, rows = step.empty(x.shape, x.dtype), (len(x), x.size // len(x))
        mean, inverse = step.empty(rows[1:], x.dtype), step.empty(rows[1:], x.dtype)
        call(
            kernels.layer_norm, x.reshape(rows), weight.value, bias.value, x.dtype.type(self.eps), y.reshape(rows), mean, inverse
        )

        def backward(dy, into=None):
            dy = checked(dy, y.shape[:-1], self, step, x.dtype)
            grads = (weight.grad, bias.grad) if weight.learns else (np.zeros_like(weight.grad), np.zeros_like(bias.grad))
            call(kernels.layer_norm_gradient, x.reshape(rows), weight.value, mean, inverse, dy.reshape(rows), *grads)
            return joined(dy, into)

        return y, backward
