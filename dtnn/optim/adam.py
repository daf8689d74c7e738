"""Adam, the optimizer with a step size of its own for each weight."""

from collections.abc import Callable
from dataclasses import dataclass

from ..kernels import updates
from .optimizer import Optimizer, moments


@dataclass(frozen=True, repr=False)
class Adam(Optimizer):
    """Adaptive moments: momentum, divided by the running size of the gradient.

    With g the gradient (plus lambda w, the weight decay), in update t = 1, 2, ...::

        m = beta1 m + (1 - beta1) g          v = beta2 v + (1 - beta2) g^2         (0 at the start)
        w = w - lr m' / (sqrt(v') + eps)     m' = m / (1 - beta1^t),  v' = v / (1 - beta2^t)

    Parameters
    ----------
    lr : float or schedule
        Learning rate; about the size of each weight's step.
    betas : (float, float)
        How much of the old means is kept, each in [0, 1).
    eps : float
        Added to sqrt(v'), so outside the correction of the start.
    weight_decay : float
        lambda, an L2 penalty; `AdamW` has the kind that the division leaves alone.
    decay_all : bool
        Decay biases and normalisation parameters, too, as PyTorch does.
    clip_norm : float, optional
        Largest 2-norm of the whole gradient; a larger one is scaled down.

    Raises
    ------
    ValueError
        A setting makes no sense; says what it may be.

    Notes
    -----
    The numbers and defaults are those of `torch.optim.Adam` and of the paper: Kingma and Ba (2015).  Keras adds eps (1e-7
    there) to sqrt(v) before the correction, which matters where gradients are tiny.
    16 bytes read and 16 written a weight.

    Examples
    --------
    >>> Adam()
    Adam(lr=0.001)
    """

    lr: float | Callable = 1e-3
    betas: tuple = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0
    decay_all: bool = False
    clip_norm: float | None = None
    layerwise = False

    def state(self, parameters):
        """The two running means, and how many updates they have seen."""
        return moments(parameters)

    def change(self, parameters, value, grad, state, lr):
        """One fused pass over the flat vectors."""
        state["step"] += 1
        decay = (self._mask(parameters), self.weight_decay)
        updates.adam(value, grad, state["mean"], state["square"], state["step"], lr, *self.betas, self.eps, *decay)
