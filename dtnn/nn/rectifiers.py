"""Activations that let large numbers pass, and small ones hardly or not: `ReLU` and its relatives."""

from ..allowed import number
from ..kernels import activations, pointwise
from .layer import Layer
from .number_by_number import number_by_number
from .numbers import plain
from .passes import Pass, checked, joined


class ReLU(Layer):
    """y = max(0, x); a NaN stays a NaN; y and x (..., N) of any shape.

    After Conv2d, Linear, MaxPool2d, BatchNorm or Residual it is done in their own pass (`Sequential` finds that).

    Notes
    -----
    No pass of its own there, else a pass over x forward, and one over dy backward.  Nair and Hinton, "Rectified linear units
    improve restricted Boltzmann machines", 2010.

    Examples
    --------
    >>> import numpy as np
    >>> ReLU()(np.array([[-1.0, 0.0, 2.0]], np.float32))
    array([[0., 0., 2.]], dtype=float32)
    """

    replays = True

    def forward(self, x, step=None):
        """y, backward"""
        step = step or Pass()
        x = checked(x, None, self, step)
        y = step.empty(x.shape, x.dtype)
        activations.relu(x, y)

        def backward(dy, into=None):
            dy = checked(dy, y.shape[:-1], self, step, x.dtype)
            activations.mask_delta(dy, y)
            return joined(dy, into)

        return y, backward


class LeakyReLU(Layer):
    """y = x where x >= 0, else slope x; y and x (..., N) of any shape.

    Parameters
    ----------
    slope : float
        That of the line below zero.

    Notes
    -----
    A pass over x forward, and one over dy backward.
    Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network acoustic models", 2013.

    Examples
    --------
    >>> import numpy as np
    >>> LeakyReLU(0.5)(np.array([[-1.0, 2.0]])).tolist()
    [[-0.5, 2.0]]
    """

    replays = True

    def __init__(self, slope=0.01):
        number("LeakyReLU: slope", slope, "a finite number, such as 0.01")
        self.slope = plain(slope)

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.leaky_relu, x, step, self.slope)


class ELU(Layer):
    """y = x where x >= 0, else alpha (e^x - 1); y and x (..., N) of any shape.

    Parameters
    ----------
    alpha : float
        -alpha is what y tends to far below zero.

    Notes
    -----
    A pass over x forward, and one over dy backward.
    Clevert, Unterthiner and Hochreiter, "Fast and accurate deep network learning by exponential linear units", 2016.

    Examples
    --------
    >>> import numpy as np
    >>> ELU()(np.array([[-1000.0, 0.0, 2.0]])).tolist()
    [[-1.0, 0.0, 2.0]]
    """

    replays = True

    def __init__(self, alpha=1.0):
        number("ELU: alpha", alpha, "a finite number, such as 1.0")
        self.alpha = plain(alpha)

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.elu, x, step, self.alpha)


class GELU(Layer):
    """y = x (1 + erf(x / sqrt 2)) / 2: x times the share of the normal distribution below x; y and x (..., N) of any shape.

    Notes
    -----
    Exact, not by tanh.  A pass over x forward, and one over dy backward.
    Hendrycks and Gimpel, "Gaussian error linear units", 2016.

    Examples
    --------
    >>> import numpy as np
    >>> GELU()(np.array([[-1.0, 0.0, 1.0]])).round(6).tolist()
    [[-0.158655, 0.0, 0.841345]]
    """

    replays = True

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.gelu, x, step)


class SiLU(Layer):
    """y = x / (1 + e^-x), also called swish; y and x (..., N) of any shape.

    Notes
    -----
    A pass over x forward, and one over dy backward.
    Elfwing, Uchibe and Doya, "Sigmoid-weighted linear units for neural network function approximation", 2018.

    Examples
    --------
    >>> import numpy as np
    >>> SiLU()(np.array([[-1.0, 0.0, 1.0]])).round(6).tolist()
    [[-0.268941, 0.0, 0.731059]]
    """

    replays = True

    def forward(self, x, step=None):
        """y, backward"""
        return number_by_number(self, pointwise.silu, x, step)
