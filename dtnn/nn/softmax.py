"""`Softmax`, `LogSoftmax`: over the first axis."""

import numpy as np

from ..kernels.softmax import softmax, softmax_gradient
from .layer import Layer
from .passes import Pass, checked


def over_features(layer, x, step, logarithmic):
    """y, backward of softmax or its logarithm over the first axis."""
    step = step or Pass()
    x = checked(x, None, layer, step)
    y, rows = step.empty(x.shape, x.dtype), (len(x), -1)
    softmax(x.reshape(rows), y.reshape(rows), logarithmic)

    def backward(dy, into=None):
        dy = checked(dy, y.shape[:-1], layer, step, x.dtype)
        softmax_gradient(y.reshape(rows), dy.reshape(rows), logarithmic)
        return dy if into is None else np.add(into, dy, out=into)

    return y, backward


class Softmax(Layer):
    """y[k] = e^x[k] / sum over k of e^x[k], over the first axis (classes, channels); y and x (K, ..., N).

    The largest x is subtracted first, so that nothing overflows.  For training with `cross_entropy` leave it
    out: that takes logits.

    Examples
    --------
    >>> Softmax()(np.array([[0.0], [0.0]])).ravel().tolist()
    [0.5, 0.5]
    """

    def forward(self, x, step=None):
        """y, backward"""
        return over_features(self, x, step, False)


class LogSoftmax(Layer):
    """y[k] = x[k] - log of the sum over k of e^x[k], over the first axis (classes, channels); y and x (K, ..., N).

    The largest x is subtracted first, so that nothing overflows.

    Examples
    --------
    >>> LogSoftmax()(np.array([[1000.0], [1000.0]])).ravel().round(6).tolist()
    [-0.693147, -0.693147]
    """

    def forward(self, x, step=None):
        """y, backward"""
        return over_features(self, x, step, True)
