"""`LossChooser`: what a training makes small, to begin with what suits the targets."""

import inspect

import numpy as np

from ..nn import losses, regression_losses
from .chooser import Chooser

LOSSES = {
    "cross_entropy": losses.cross_entropy,
    "CrossEntropy": losses.CrossEntropy,
    "hinge": losses.hinge,
    "binary_cross_entropy": losses.binary_cross_entropy,
    "mse": losses.mse,
    "mae": losses.mae,
    "Huber": regression_losses.Huber,
}


class LossChooser(Chooser):
    """A choice of dtnn's losses, with a form for those that have settings.

    >>> chooser = LossChooser()
    >>> chooser.suit(np.array([[0.5], [1.5]], np.float32))
    >>> chooser.source
    "'mse'"
    """

    def __init__(self, changed=None):
        self._usual = "cross_entropy"
        super().__init__("loss", LOSSES, skip=("outputs", "targets", "weight"), changed=changed)

    @property
    def source(self):
        """As Python: the name of one that has no settings, or the call."""
        name = self.choice.value
        return super().source if inspect.isclass(LOSSES[name]) else repr(name)

    def suit(self, targets):
        """Choose what suits these targets, if the ones before were of another kind; else what is chosen stays."""
        before, self._usual = self._usual, usual(targets)
        if self._usual != before:
            self.choice.value = self._usual


def usual(targets):
    """The loss that suits targets: the name.

    >>> usual(np.array([3, 1])), usual(np.array([[0.5, 0.5], [0.0, 1.0]])), usual(np.array([[0.0], [1.0]]))
    ('cross_entropy', 'cross_entropy', 'binary_cross_entropy')
    """
    if targets.dtype.kind != "f":
        return "cross_entropy"
    if targets.size == len(targets):
        return "binary_cross_entropy" if np.isin(targets, (0, 1)).all() else "mse"
    shares = targets.ndim == 2 and targets.min() >= 0 and np.allclose(targets.sum(1), 1)
    return "cross_entropy" if shares else "mse"


def outputs(data, otherwise=10):
    """How many numbers a network for these data has to give: one a class, or one for each number of a target.

    >>> from dtnn.data import Dataset
    >>> outputs(Dataset(np.zeros((2, 3), np.float32), np.zeros((2, 4), np.float32)))
    4
    """
    if getattr(data, "classes", None):
        return len(data.classes)
    targets = data.train.y
    if targets.dtype.kind != "f":
        return int(targets.max()) + 1 if targets.ndim == 1 and targets.size else otherwise
    return 1 if targets.ndim == 1 else targets.shape[1]
