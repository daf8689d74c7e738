"""`Flatten`: from images to rows."""

import math

from .layer import Layer
from .passes import joined


class Flatten(Layer):
    """y (C H W, N) is x (C, H, W, N): a view, nothing moves, because the batch is the last axis.

    Examples
    --------
    >>> Flatten().build((16, 5, 5), None)
    (400,)
    """

    replays = True

    def build(self, shape, rng):
        """(...) -> (product,)"""
        return (math.prod(shape),)

    def forward(self, x, step=None):
        """y, backward"""
        shape = x.shape

        def backward(dy, into=None):
            return joined(dy.reshape(shape), into)

        return x.reshape(math.prod(shape[:-1]), shape[-1]), backward
