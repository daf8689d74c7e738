"""`Dropout`: switch a share of the numbers off while training."""

from ..kernels.dropout import dropout
from .layer import Layer
from .numbers import share
from .passes import Pass, checked, joined


class Dropout(Layer):
    """y = x / (1 - rate) with probability 1 - rate, else 0; in inference y = x; y and x (..., N) of any shape.

    Parameters
    ----------
    rate : float
        Share of the numbers that become 0, in [0, 1).

    Notes
    -----
    The mask is a function of (seed, step, which dropout of the network, element, index of the sample in the global batch):
    the same on any number of ranks, and never stored: a pass over x forward, and one over dy backward, in which it is computed
    again.  Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", 2014.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.ones((1000, 1), np.float32)
    >>> y, backward = Dropout(0.5).forward(x)
    >>> sorted(set(y.ravel().tolist()))
    [0.0, 2.0]
    """

    replays = True

    def __init__(self, rate):
        self.rate = share(rate, "rate", "Dropout")

    def forward(self, x, step=None):
        """y, backward"""
        step = step or Pass()
        if not step.training or self.rate == 0:
            return x, joined
        x = checked(x, None, self, step)
        key, y = step.next_key(), step.empty(x.shape, x.dtype)
        dropout(x, y, self.rate, step.place, key)

        def backward(dy, into=None):
            dy = checked(dy, y.shape[:-1], self, step, x.dtype)
            dropout(dy, dy, self.rate, step.place, key)
            return joined(dy, into)

        return y, backward
