"""Adam with Nesterov's momentum."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..kernels import updates_adaptive
from .optimizer import Optimizer, moments


@dataclass(frozen=True, repr=False)
class Nadam(Optimizer):
    """Adam that looks ahead along its momentum, which warms up.

    m, v as in `Adam`; in update t, with mu(t) = beta1 (1 - 0.96^(t momentum_decay) / 2) and M(t) = mu(1) mu(2) ... mu(t)::

        w = w - lr (mu(t+1) m / (1 - M(t+1)) + (1 - mu(t)) g / (1 - M(t))) / (sqrt(v') + eps)

    Parameters
    ----------
    lr, betas, eps, weight_decay, decay_all, clip_norm
        As in `Adam`.
    momentum_decay : float
        How fast the momentum warms up.

    Raises
    ------
    ValueError
        A setting makes no sense; says what it may be.

    Notes
    -----
    The numbers and defaults are those of `torch.optim.NAdam`.  Dozat (2016).

    Examples
    --------
    >>> Nadam()
    Nadam(lr=0.002)
    """

    lr: float | Callable = 2e-3
    betas: tuple = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0
    momentum_decay: float = 4e-3
    decay_all: bool = False
    clip_norm: float | None = None
    layerwise = False

    def state(self, parameters):
        """The two running means, the number of updates they have seen, and the product M of the momenta."""
        return {**moments(parameters), "product": np.ones(1)}

    def change(self, parameters, value, grad, state, lr):
        """One fused pass over the flat vectors."""
        state["step"] += 1
        state["product"] *= self._momentum(state["step"])
        product, ahead = state["product"][0], self._momentum(state["step"] + 1)
        lr_mean = lr * ahead / (1 - product * ahead)
        lr_grad = lr * (1 - self._momentum(state["step"])) / (1 - product)
        scale = 1 / np.sqrt(1 - self.betas[1] ** state["step"])
        decay = (self._mask(parameters), self.weight_decay)
        updates_adaptive.nadam(
            value, grad, state["mean"], state["square"], lr_mean, lr_grad, *self.betas, scale, self.eps, *decay
        )

    def _momentum(self, step):
        return self.betas[0] * (1 - 0.5 * 0.96 ** (step * self.momentum_decay))
