"""LAMB, for large batches: Adam, with each layer's step in proportion to its weights."""

from collections.abc import Callable
from dataclasses import dataclass

from ..kernels import updates_adaptive
from .optimizer import Optimizer, moments
from .segments import segments


@dataclass(frozen=True, repr=False)
class LAMB(Optimizer):
    """Layer-wise adaptive moments: AdamW's step u, scaled for each weight array w to the size of w.

    m', v' as in `Adam`, lambda the weight decay::

        u = m' / (sqrt(v') + eps) + lambda w
        w = w - lr (|w| / |u|) u                     (factor 1 where a norm is 0)

    Biases and normalisation parameters have the factor 1 and lambda = 0, that is, Adam.

    Parameters
    ----------
    lr : float or schedule
        Learning rate: the relative size of a step.  For k times the batch take sqrt(k) times the rate and k times the
        epochs of warm-up (see `scaled` and `warm_up`).
    betas, eps, clip_norm
        As in `Adam`.
    weight_decay : float
        lambda.

    Raises
    ------
    ValueError
        A setting makes no sense; says what it may be.

    Notes
    -----
    You et al. (2020), "Large batch optimization for deep learning: training BERT in 76 minutes", with phi(x) = x.

    Examples
    --------
    >>> LAMB()
    LAMB(lr=0.001)
    """

    lr: float | Callable = 1e-3
    betas: tuple = (0.9, 0.999)
    eps: float = 1e-6
    weight_decay: float = 0.01
    clip_norm: float | None = None

    def state(self, parameters):
        """The two running means, and how many updates they have seen."""
        return moments(parameters)

    def change(self, parameters, value, grad, state, lr):
        """Two passes over each segment of the flat vectors: the step has to be known before its norm."""
        state["step"] += 1
        rule = (state["step"], lr, *self.betas, self.eps, self.weight_decay)
        updates_adaptive.lamb(value, grad, state["mean"], state["square"], *segments(parameters), *rule)
