"""`LossChooser`: what a training makes small, to begin with what suits the targets."""

import inspect

import numpy as np

from ..nn import losses, regression_losses
from .chooser import Chooser
from .own import own_losses

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
    """A choice of dtnn's losses and of the notebook's own, with a form for those that have settings.

    Parameters
    ----------
    changed : callable
        Called without arguments after every change.
    names : dict
        The notebook's variables, looked at anew by `refresh`.

    Examples
    --------
    >>> chooser = LossChooser()
    >>> chooser.suit(np.array([[0.5], [1.5]], np.float32))
    >>> chooser.source
    "'mse'"
    """

    def __init__(self, changed=None, names=None):
        self._usual, self._names = "cross_entropy", {} if names is None else names
        super().__init__("loss", LOSSES, skip=("outputs", "targets", "weight"), changed=changed)
        self.refresh()

    @property
    def source(self):
        """As Python: the name of one that has no settings, or the call."""
        name = self.choice.value
        if inspect.isclass(self.known[name]):
            return super().source
        return repr(name) if name in LOSSES else name

    # ---- what there is

    def refresh(self):
        """A cell may have made a loss, or another one of the same name."""
        before, chosen = self.known, self.choice.value
        own = {name: thing for name, thing in own_losses(self._names).items() if name not in LOSSES}
        self.known = {**LOSSES, **own}
        options = [(f"{name} (yours)" if name in own else name, name) for name in self.known]
        if list(self.choice.options) != options:
            self.choice.unobserve(self._chosen, "value")
            self.choice.options = options
            self.choice.value = chosen if chosen in self.known else self._usual
            self.choice.observe(self._chosen, "value")
        if self.known[self.choice.value] is not before[chosen]:
            self._chosen(None)

    @property
    def names(self):
        """What may be named in a source without being called."""
        return {name: thing for name, thing in self.known.items() if name not in LOSSES and not isinstance(thing, type)}

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
