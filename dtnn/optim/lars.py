"""LARS, for large batches: each layer gets a rate that fits the size of its weights."""

from collections.abc import Callable
from dataclasses import dataclass

from ..kernels import updates_adaptive
from .optimizer import Optimizer, zeros
from .segments import segments


@dataclass(frozen=True, repr=False)
class LARS(Optimizer):
    """Layer-wise adaptive rate scaling: SGD with momentum, scaled for each weight array w by its norm.

    With g its gradient, lambda the weight decay::

        r = trust |w| / (|g| + lambda |w|)           (1 where a norm is 0)
        v = momentum v + lr r (g + lambda w)         w = w - v

    Biases and normalisation parameters have r = 1 and lambda = 0, that is, plain SGD.

    Parameters
    ----------
    lr : float or schedule
        Learning rate; the authors use warm-up, then a polynomial of power 2: ``warm_up(poly(lr, 2))``.
    momentum : float
        In [0, 1).
    weight_decay : float
        lambda.
    trust : float
        Size of a step in units of the weights' norm.
    clip_norm : float, optional
        Largest 2-norm of the whole gradient; a larger one is scaled down.

    Raises
    ------
    ValueError
        A setting makes no sense; says what it may be.

    Notes
    -----
    You, Gitman and Ginsburg (2017).  The learning rate is inside the momentum, as in the paper.
    For small batches it has no advantage.

    Examples
    --------
    >>> LARS(1.0)
    LARS(lr=1.0)
    """

    lr: float | Callable = 0.1
    momentum: float = 0.9
    weight_decay: float = 5e-4
    trust: float = 1e-3
    clip_norm: float | None = None

    def state(self, parameters):
        """The momentum."""
        return {"momentum": zeros(parameters)}

    def change(self, parameters, value, grad, state, lr):
        """One fused pass over each segment of the flat vectors."""
        rule = (lr, self.momentum, self.trust, self.weight_decay)
        updates_adaptive.lars(value, grad, state["momentum"], *segments(parameters), *rule)
