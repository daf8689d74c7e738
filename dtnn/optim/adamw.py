"""Adam with decoupled weight decay."""

from collections.abc import Callable
from dataclasses import dataclass

from ..kernels import updates
from .optimizer import Optimizer, moments


@dataclass(frozen=True, repr=False)
class AdamW(Optimizer):
    """Adam whose weight decay is not divided by the size of the gradient.

    m', v' as in `Adam`, of the bare gradient; lambda the weight decay::

        w = w - lr lambda w - lr m' / (sqrt(v') + eps)

    Parameters
    ----------
    lr, betas, eps, decay_all, clip_norm
        As in `Adam`.
    weight_decay : float
        lambda; each step takes the part lr lambda of a weight away.

    Raises
    ------
    ValueError
        A setting makes no sense; says what it may be.

    Notes
    -----
    The numbers and defaults are those of `torch.optim.AdamW`.  Loshchilov and Hutter (2019).

    Examples
    --------
    >>> AdamW(3e-4, weight_decay=0.05)
    AdamW(lr=0.0003, weight_decay=0.05)
    """

    lr: float | Callable = 1e-3
    betas: tuple = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.01
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
        updates.adam(
            value, grad, state["mean"], state["square"], state["step"], lr, *self.betas, self.eps, *decay, decoupled=True
        )
