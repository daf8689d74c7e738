"""Stochastic gradient descent."""

from collections.abc import Callable
from dataclasses import dataclass

from ..kernels import updates
from ..kernels.repeat import Repeat
from .optimizer import Optimizer, zeros


@dataclass(frozen=True, repr=False)
class SGD(Optimizer):
    """Stochastic gradient descent, with momentum if wanted.

    With g the gradient of the mean loss over the global batch, w the weights, lambda the weight decay::

        g = g + lambda w                  (not for biases and normalisation, unless decay_all)
        v = momentum v + g                (v = 0 at the start)
        w = w - lr v                      or, with nesterov,  w - lr (g + momentum v)

    Parameters
    ----------
    lr : float or schedule
        Learning rate.
    momentum : float
        In [0, 1); 0 keeps no vector v.
    nesterov : bool
        Look ahead along the momentum; needs momentum > 0.
    weight_decay : float
        lambda, an L2 penalty.
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
    The numbers are those of `torch.optim.SGD`.  One pass over memory: 12 bytes read and 8 written a weight, 20 and 12 with
    momentum.  Momentum: Polyak (1964); Nesterov's in this form: Sutskever, Martens, Dahl and Hinton (2013).

    Examples
    --------
    >>> SGD(0.1, momentum=0.9)
    SGD(lr=0.1, momentum=0.9)
    """

    lr: float | Callable = 0.01
    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0
    decay_all: bool = False
    clip_norm: float | None = None
    layerwise = False

    def __post_init__(self):
        Optimizer.__post_init__(self)
        if self.nesterov and not self.momentum:
            raise ValueError("SGD: nesterov=True needs a momentum, and momentum=0.0; give one, such as momentum=0.9")

    def state(self, parameters):
        """The momentum, if there is one."""
        return {"momentum": zeros(parameters)} if self.momentum else {}

    def change(self, parameters, value, grad, state, lr):
        """One fused pass over the flat vectors."""
        rule = (self.momentum, self.nesterov, self._mask(parameters), self.weight_decay)
        updates.sgd(value, grad, state.get("momentum"), lr, *rule)

    def updates(self, parameters, state):
        """See `Optimizer.updates`."""
        if type(self) is not SGD or callable(self.lr) or self.clip_norm is not None:
            return Optimizer.updates(self, parameters, state)
        again = Repeat(lambda: self.update(parameters, state, None))  # at this rate it may be at any place of a training
        return lambda progress: again()
