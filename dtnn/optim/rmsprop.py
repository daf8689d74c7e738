"""RMSProp, which divides the gradient by its running size."""

from collections.abc import Callable
from dataclasses import dataclass

from ..kernels import updates_adaptive
from .optimizer import Optimizer, zeros


@dataclass(frozen=True, repr=False)
class RMSProp(Optimizer):
    """Gradient descent, divided by the running size of the gradient.

    With g the gradient (plus lambda w, the weight decay)::

        v = alpha v + (1 - alpha) g^2                                     (0 at the start)
        b = momentum b + g / (sqrt(v) + eps)        w = w - lr b

    and, if centered, sqrt(v - m^2) with m = alpha m + (1 - alpha) g in the place of sqrt(v).

    Parameters
    ----------
    lr : float or schedule
        Learning rate.
    alpha : float
        How much of the old mean is kept, in [0, 1) (Keras calls it rho).
    eps : float
        Added to the root, not under it.
    momentum : float
        In [0, 1).
    centered : bool
        Divide by the standard deviation.
    weight_decay, decay_all, clip_norm
        As in `SGD`.

    Raises
    ------
    ValueError
        A setting makes no sense; says what it may be.

    Notes
    -----
    The numbers and defaults are those of `torch.optim.RMSprop`.  Tieleman and Hinton (2012), lecture 6.5.

    Examples
    --------
    >>> RMSProp(1e-3, momentum=0.9)
    RMSProp(lr=0.001, momentum=0.9)
    """

    lr: float | Callable = 0.01
    alpha: float = 0.99
    eps: float = 1e-8
    momentum: float = 0.0
    centered: bool = False
    weight_decay: float = 0.0
    decay_all: bool = False
    clip_norm: float | None = None
    layerwise = False

    def state(self, parameters):
        """The running mean of squares; if centered or with momentum, two vectors for these."""
        names = ["square", "mean", "momentum"] if self.centered or self.momentum else ["square"]
        return {name: zeros(parameters) for name in names}

    def change(self, parameters, value, grad, state, lr):
        """One fused pass over the flat vectors."""
        vectors = (state["square"], state.get("mean"), state.get("momentum"))
        decay = (self._mask(parameters), self.weight_decay)
        updates_adaptive.rmsprop(value, grad, *vectors, lr, self.alpha, self.momentum, self.eps, self.centered, *decay)
