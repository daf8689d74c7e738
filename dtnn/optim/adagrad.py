"""Adagrad, which divides the gradient by all that came before."""

from collections.abc import Callable
from dataclasses import dataclass

from ..kernels import updates_adaptive
from .optimizer import Optimizer, zeros


@dataclass(frozen=True, repr=False)
class Adagrad(Optimizer):
    """Gradient descent, divided by the root of the sum of all squared gradients so far.

    With g the gradient (plus lambda w, the weight decay)::

        s = s + g^2                                  (initial at the start)
        w = w - lr g / (sqrt(s) + eps)

    Parameters
    ----------
    lr : float or schedule
        Learning rate.
    initial : float
        What s is before the first update.
    eps : float
        Added to the root.
    weight_decay, decay_all, clip_norm
        As in `SGD`.

    Raises
    ------
    ValueError
        A setting makes no sense; says what it may be.

    Notes
    -----
    The numbers and defaults are those of `torch.optim.Adagrad`.  Duchi, Hazan and Singer (2011).

    Examples
    --------
    >>> Adagrad(0.05)
    Adagrad(lr=0.05)
    """

    lr: float | Callable = 0.01
    initial: float = 0.0
    eps: float = 1e-10
    weight_decay: float = 0.0
    decay_all: bool = False
    clip_norm: float | None = None
    layerwise = False

    def state(self, parameters):
        """The sum of squares."""
        total = zeros(parameters)
        total[:] = self.initial
        return {"total": total}

    def change(self, parameters, value, grad, state, lr):
        """One fused pass over the flat vectors."""
        updates_adaptive.adagrad(value, grad, state["total"], lr, self.eps, self._mask(parameters), self.weight_decay)
