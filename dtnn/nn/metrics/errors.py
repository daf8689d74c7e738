"""How far the outputs are from the targets: `MSE`, `MAE`, `Hinge`, `R2`."""

from dataclasses import dataclass

import numpy as np

from ..losses import hinge as hinge_loss
from ..regression_losses import as_numbers
from ..regression_losses import mae as absolute_error
from ..regression_losses import mse as squared_error
from .right import ratio


@dataclass(frozen=True)
class MSE:
    """Mean squared error: the mean of (y - t)^2 over samples and outputs, y (D, N), t (N, D).

    Examples
    --------
    >>> mse.value(mse.sums(np.array([[1.0, 3.0]]), np.array([0.0, 0.0])))
    5.0
    """

    name = "mse"
    loss = staticmethod(squared_error)

    def sums(self, outputs, targets):
        """(sum of the losses, number of samples)"""
        return np.array([self.loss(outputs, targets)[0], outputs.shape[-1]], np.float64)

    def value(self, sums):
        """The mean; NaN of no samples."""
        return ratio(*sums)


@dataclass(frozen=True)
class MAE(MSE):
    """Mean absolute error: the mean of |y - t| over samples and outputs, y (D, N), t (N, D).

    Examples
    --------
    >>> mae.value(mae.sums(np.array([[1.0, 3.0]]), np.array([0.0, 0.0])))
    2.0
    """

    name = "mae"
    loss = staticmethod(absolute_error)


@dataclass(frozen=True)
class Hinge(MSE):
    """Mean categorical hinge: max(0, 1 + the largest output of a wrong class - the output of the right one), see `losses.hinge`.

    Examples
    --------
    >>> round(hinge.value(hinge.sums(np.array([[0.5, 0.0], [0.2, 2.0]]), np.array([0, 1]))), 6)
    0.35
    """

    name = "hinge"
    loss = staticmethod(hinge_loss)


@dataclass(frozen=True)
class R2:
    """1 - (sum of (y - t)^2) / (sum of (t - mean t)^2), over all outputs: the share of the variance that is explained.

    NaN where the targets are all equal.

    Examples
    --------
    >>> t = np.array([1.0, 2.0, 3.0])
    >>> r2.value(r2.sums(np.array([[1.0, 2.0, 2.0]]), t))
    0.5
    """

    name = "r2"

    def sums(self, outputs, targets):
        """(sum of squared errors, of targets, of their squares, number)"""
        t = as_numbers(outputs, targets, self.name).astype(np.float64)
        return np.array([((outputs - t) ** 2).sum(), t.sum(), (t * t).sum(), t.size], np.float64)

    def value(self, sums):
        """The share."""
        errors, total, squares, count = sums
        spread = squares - total * total / count if count else 0.0
        return float(1 - errors / spread) if spread > 0 else float("nan")


mse, mae, hinge, r2 = MSE(), MAE(), Hinge(), R2()
