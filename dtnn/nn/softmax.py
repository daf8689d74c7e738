"""`Softmax`, `LogSoftmax`: over the first axis."""

from ..kernels.softmax import softmax, softmax_gradient
from ..kernels.tape import call
from .layer import Layer
from .passes import Pass, checked, joined


def over_features(layer, x, step, logarithmic):
    """y, backward of softmax or its logarithm over the first axis."""
    step = step or Pass()
    x = checked(x, None, layer, step)
    y, rows = step.empty(x.shape, x.dtype), (len(x), -1)
    call(softmax, x.reshape(rows), y.reshape(rows), logarithmic)

    def backward(dy, into=None):
        dy = checked(dy, y.shape[:-1], layer, step, x.dtype)
        call(softmax_gradient, y.reshape(rows), dy.reshape(rows), logarithmic)
        return joined(dy, into)

    return y, backward


class Softmax(Layer):
    """y[k] = e^x[k] / sum over k of e^x[k], over the first axis (classes, channels); y and x (K, ..., N).

    The largest x is subtracted first, so that nothing overflows.  For training with `cross_entropy` leave it
    out: that takes logits.

    Notes
    -----
    Three passes over x forward, two over dy backward, all but the first of each from the cache.  Bridle, "Probabilistic
    interpretation of feedforward classification network outputs", 1990.

    Examples
    --------
    >>> import numpy as np
    >>> Softmax()(np.array([[0.0], [0.0]])).ravel().tolist()
    [0.5, 0.5]
    """

    replays = True

    def forward(self, x, step=None):
        """y, backward"""
        return over_features(self, x, step, False)


class LogSoftmax(Layer):
    """y[k] = x[k] - log of the sum over k of e^x[k], over the first axis (classes, channels); y and x (K, ..., N).

    The largest x is subtracted first, so that nothing overflows.

    Notes
    -----
    Three passes over x forward, two over dy backward, all but the first of each from the cache.

    Examples
    --------
    >>> import numpy as np
    >>> LogSoftmax()(np.array([[1000.0], [1000.0]])).ravel().round(6).tolist()
    [-0.693147, -0.693147]
    """

    replays = True

    def forward(self, x, step=None):
        """y, backward"""
        return over_features(self, x, step, True)
