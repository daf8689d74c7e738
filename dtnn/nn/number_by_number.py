"""`number_by_number`: what layers do that apply one function to each number."""

from ..kernels import pointwise
from .passes import Pass, checked, joined


def number_by_number(layer, activation, x, step, a=0.0):
    """y, backward of a function from `kernels.pointwise`."""
    step = step or Pass()
    x = checked(x, None, layer, step)
    y = step.empty(x.shape, x.dtype)
    pointwise.forward(activation, x, y, a)

    def backward(dy, into=None):
        dy = checked(dy, y.shape[:-1], layer, step, x.dtype)
        pointwise.gradient(activation, x, y, dy, a)
        return joined(dy, into)

    return y, backward
