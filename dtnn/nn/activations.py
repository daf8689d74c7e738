"""`ReLU`"""

import numpy as np

from ..kernels import activations
from .layer import Layer
from .passes import Pass, checked


class ReLU(Layer):
    """y = max(0, x); a NaN stays a NaN.

    After Conv2d, Linear or MaxPool2d it is done in their own pass (`Sequential` finds that).

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
