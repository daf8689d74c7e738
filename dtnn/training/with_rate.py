"""`with_rate`: an optimizer at another learning rate than the one it was made with."""

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Times:
    """A schedule, times a factor."""

    schedule: Callable
    factor: float

    def __call__(self, progress):
        return self.factor * self.schedule(progress)


def with_rate(optimizer, rate):
    """The same optimizer, at the learning rate that a `Rate` asks for; its state is not touched.

    Parameters
    ----------
    optimizer : Optimizer
        As the user gave it: a frozen dataclass, or anything with an attribute `lr`.
    rate : Rate

    Returns
    -------
    Optimizer or None
        None: it has no `lr`, so nobody knows how to change it.

    Examples
    --------
    >>> from dtnn.commands import Rate
    >>> from dtnn.optim import SGD
    >>> with_rate(SGD(0.1, momentum=0.9), Rate(factor=0.5)), with_rate(SGD(0.1), Rate(0.02))
    (SGD(lr=0.05, momentum=0.9), SGD(lr=0.02))
    """
    if not hasattr(optimizer, "lr"):
        return None
    lr = rate.lr if rate.lr is not None else _times(optimizer.lr, rate.factor)
    if dataclasses.is_dataclass(optimizer):
        return dataclasses.replace(optimizer, lr=lr)
    other = copy.copy(optimizer)
    other.lr = lr
    return other


def _times(lr, factor):
    if factor == 1:
        return lr
    return Times(lr, factor) if callable(lr) else lr * factor
