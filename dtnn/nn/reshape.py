"""`Reshape`: the same numbers in another shape."""

import math
import operator
from numbers import Integral

from ..allowed import shown
from .layer import Layer
from .passes import joined


class Reshape(Layer):
    """y (*shape, N) has the numbers of x (..., N) in their order: a view, nothing moves.

    Parameters
    ----------
    shape : tuple of int
        Of one sample; one of them may be -1: what is left.

    Examples
    --------
    >>> Reshape((1, 28, -1)).build((784,), None)
    (1, 28, 28)
    """

    replays = True

    def __init__(self, shape):
        try:
            self.shape = tuple(map(operator.index, [shape] if isinstance(shape, Integral) else shape))
        except TypeError:
            raise TypeError(f"Reshape: shape is {shown(shape)}; give whole numbers, such as (8, 4, 4) or (-1, 16)") from None

    def build(self, shape, rng):
        """(...) -> the shape"""
        size, known = math.prod(shape), math.prod(n for n in self.shape if n != -1)
        holes = self.shape.count(-1)
        if holes > 1 or min(self.shape, default=1) < -1 or known <= 0 or size % known or (not holes and size != known):
            raise ValueError(
                f"{self!r} can't hold samples of shape {tuple(shape)}, which are {size} numbers; the products must be equal"
            )
        return tuple(size // known if n == -1 else n for n in self.shape)

    def forward(self, x, step=None):
        """y, backward"""
        shape = x.shape

        def backward(dy, into=None):
            dx = dy.reshape(shape)
            return joined(dx, into)

        return x.reshape(*self.build(shape[:-1], None), shape[-1]), backward
