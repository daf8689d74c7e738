"""Activations that are functions of mathematics, between fixed limits or from them: `Sigmoid`, `Tanh`, `Arctanh`, `Log`."""

from ..kernels import pointwise
from .layer import Layer
from .number_by_number import number_by_number


class Sigmoid(Layer):
    """y = 1 / (1 + e^-x), between 0 and 1; y and x (..., N) of any shape.

    For training with `binary_cross_entropy` leave it out: that takes logits.

    Notes
    -----
    A pass over x forward, and one over dy backward.

    Examples
    --------
    >>> import numpy as np
    >>> Sigmoid()(np.array([[-1000.0, 0.0, 1000.0]])).tolist()
    [[0.0, 0.5, 1.0]]
    """

    replays = True

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.sigmoid, x, step)


class Tanh(Layer):
    """y = (e^2x - 1) / (e^2x + 1), between -1 and 1; y and x (..., N) of any shape.

    Notes
    -----
    A pass over x forward, and one over dy backward.

    Examples
    --------
    >>> import numpy as np
    >>> Tanh()(np.array([[-1000.0, 0.0, 1.0]])).round(6).tolist()
    [[-1.0, 0.0, 0.761594]]
    """

    replays = True

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.hyperbolic_tangent, x, step)


class Arctanh(Layer):
    """y is the number whose tanh is x; NaN outside -1 <= x <= 1; y and x (..., N) of any shape.

    Notes
    -----
    A pass over x forward, and one over dy backward.

    Examples
    --------
    >>> import numpy as np
    >>> Arctanh()(np.array([[0.0, 0.5]])).round(6).tolist()
    [[0.0, 0.549306]]
    """

    replays = True

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.arctanh, x, step)


class Log(Layer):
    """y = log x; NaN below zero, -infinity at zero; y and x (..., N) of any shape.

    Notes
    -----
    A pass over x forward, and one over dy backward.

    Examples
    --------
    >>> import numpy as np
    >>> Log()(np.array([[1.0, 2.0]])).round(6).tolist()
    [[0.0, 0.693147]]
    """

    replays = True

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.logarithm, x, step)
