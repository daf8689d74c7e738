"""Activations: functions of each number, and softmax over the first axis."""

import numpy as np

from ..kernels import activations, pointwise
from ..kernels.softmax import softmax, softmax_gradient
from .layer import Layer
from .passes import Pass, checked


def number_by_number(layer, activation, x, step, a=0.0):
    """y, backward of a function from `kernels.pointwise`."""
    step = step or Pass()
    x = checked(x, None, layer, step)
    y = step.empty(x.shape, x.dtype)
    pointwise.forward(activation, x, y, a)

    def backward(dy, into=None):
        dy = checked(dy, y.shape[:-1], layer, step, x.dtype)
        pointwise.gradient(activation, x, y, dy, a)
        return dy if into is None else np.add(into, dy, out=into)

    return y, backward


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


class ReLU(Layer):
    """y = max(0, x); a NaN stays a NaN.

    After Conv2d, Linear, MaxPool2d, BatchNorm or Residual it is done in their own pass (`Sequential` finds that).

    Examples
    --------
    >>> ReLU()(np.array([[-1.0, 0.0, 2.0]], np.float32))
    array([[0., 0., 2.]], dtype=float32)
    """

    def forward(self, x, step=None):
        """y, backward"""
        step = step or Pass()
        x = checked(x, None, self, step)
        y = step.empty(x.shape, x.dtype)
        activations.relu(x, y)

        def backward(dy, into=None):
            dy = checked(dy, y.shape[:-1], self, step, x.dtype)
            activations.mask_delta(dy, y)
            return dy if into is None else np.add(into, dy, out=into)

        return y, backward


class LeakyReLU(Layer):
    """y = x where x >= 0, else slope x.  Maas, Hannun and Ng, 2013.

    Examples
    --------
    >>> LeakyReLU(0.5)(np.array([[-1.0, 2.0]])).tolist()
    [[-0.5, 2.0]]
    """

    def __init__(self, slope=0.01):
        self.slope = slope

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.leaky_relu, x, step, self.slope)


class ELU(Layer):
    """y = x where x >= 0, else alpha (e^x - 1).  Clevert, Unterthiner and Hochreiter, 2016."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.elu, x, step, self.alpha)


class GELU(Layer):
    """y = x times the share of the normal distribution below x.  Hendrycks and Gimpel, 2016."""

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.gelu, x, step)


class SiLU(Layer):
    """y = x / (1 + e^-x), also called swish.  Elfwing, Uchibe and Doya, 2018."""

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.silu, x, step)


class Sigmoid(Layer):
    """y = 1 / (1 + e^-x)

    Examples
    --------
    >>> Sigmoid()(np.array([[-1000.0, 0.0, 1000.0]])).tolist()
    [[0.0, 0.5, 1.0]]
    """

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.sigmoid, x, step)


class Tanh(Layer):
    """y = (e^2x - 1) / (e^2x + 1)"""

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.hyperbolic_tangent, x, step)


class Arctanh(Layer):
    """y is the number whose tanh is x; NaN outside -1 <= x <= 1."""

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.arctanh, x, step)


class Log(Layer):
    """y = log x; NaN below zero, -infinity at zero."""

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.logarithm, x, step)


class Softmax(Layer):
    """y[k] = e^x[k] / sum over k of e^x[k], over the first axis (classes, channels).

    For training with `cross_entropy` leave it out: that takes logits.

    Examples
    --------
    >>> Softmax()(np.array([[0.0], [0.0]])).ravel().tolist()
    [0.5, 0.5]
    """

    def forward(self, x, step=None):
        """y, backward"""
        return over_features(self, x, step, False)


class LogSoftmax(Layer):
    """y[k] = x[k] - log of the sum over k of e^x[k], over the first axis."""

    def forward(self, x, step=None):
        """y, backward"""
        return over_features(self, x, step, True)
