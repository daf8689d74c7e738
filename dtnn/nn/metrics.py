"""Metrics: a fixed-length float64 vector of sums over samples, and a function of it.

So they add up over batches and ranks; a mean of means is never taken.  One's own needs `name`, `sums` and `value`.
"""

from dataclasses import dataclass

import numpy as np

from .losses import hinge as hinge_loss
from .losses import one_hot
from .regression_losses import as_numbers
from .regression_losses import mae as absolute_error
from .regression_losses import mse as squared_error
from .targets import as_labels, as_rows

# what a name as text may mean; the classes are imported
__all__ = ["accuracy", "f1", "hinge", "mae", "mse", "precision", "r2", "recall", "top5"]


def labels_of(outputs, targets, name):
    """Integer labels from any form."""
    labels = as_labels(targets, outputs.shape[-1], name)
    return as_rows(targets, len(outputs), name).argmax(1) if labels is None else labels


def ratio(part, whole):
    """part / whole; NaN of nothing."""
    return float(part / whole) if whole else float("nan")


@dataclass(frozen=True)
class Accuracy:
    """Share of the samples whose largest output is the label's.

    Examples
    --------
    >>> sums = accuracy.sums(np.array([[0.1, 0.9], [0.9, 0.1]]), np.array([1, 1]))
    >>> sums.tolist(), accuracy.value(sums)
    ([1.0, 2.0], 0.5)
    """

    name = "accuracy"

    def sums(self, outputs, targets):
        """(number right, number) for outputs (K, N) and targets (N,), (N, 1) or one-hot (N, K)."""
        labels = labels_of(outputs, targets, self.name)
        return np.array([np.count_nonzero(outputs.argmax(0) == labels), len(labels)], np.float64)

    def value(self, sums):
        """The share; NaN of no samples."""
        return ratio(*sums)


@dataclass(frozen=True)
class TopK:
    """Share of the samples whose label is among the k largest outputs; of equal outputs the first come first."""

    k: int = 5

    @property
    def name(self):
        """Such as "top5"."""
        return f"top{self.k}"

    def sums(self, outputs, targets):
        """(number among them, number)"""
        labels = labels_of(outputs, targets, self.name)
        own = outputs[labels, np.arange(len(labels))]
        before = (outputs > own).sum(0) + ((outputs == own) & (np.arange(len(outputs))[:, None] < labels)).sum(0)
        return np.array([np.count_nonzero((before < self.k) & ~np.isnan(own)), len(labels)], np.float64)

    def value(self, sums):
        """The share."""
        return ratio(*sums)


@dataclass(frozen=True)
class MSE:
    """Mean squared error, over samples and outputs."""

    name = "mse"
    loss = staticmethod(squared_error)

    def sums(self, outputs, targets):
        """(sum, number of samples)"""
        return np.array([self.loss(outputs, targets)[0], outputs.shape[-1]], np.float64)

    def value(self, sums):
        """The mean."""
        return ratio(*sums)


@dataclass(frozen=True)
class MAE(MSE):
    """Mean absolute error, over samples and outputs."""

    name = "mae"
    loss = staticmethod(absolute_error)


@dataclass(frozen=True)
class Hinge(MSE):
    """Mean categorical hinge, see `losses.hinge`."""

    name = "hinge"
    loss = staticmethod(hinge_loss)


@dataclass(frozen=True)
class R2:
    """1 - (sum of squared errors) / (sum of squared distances of the targets from their mean), over all outputs.

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
        """The share of the variance that is explained."""
        errors, total, squares, count = sums
        spread = squares - total * total / count if count else 0.0
        return float(1 - errors / spread) if spread > 0 else float("nan")


@dataclass(frozen=True)
class ConfusionMatrix:
    """How many samples of each class were taken for each: row = label, column = largest output.

    `value` is the accuracy that the matrix says; the matrix itself is `matrix(sums)`.

    Parameters
    ----------
    classes : int
    """

    classes: int
    name = "confusion"

    def sums(self, outputs, targets):
        """The matrix, flat: classes x classes numbers."""
        labels = labels_of(outputs, targets, self.name)
        return np.bincount(labels * self.classes + outputs.argmax(0), minlength=self.classes**2).astype(np.float64)

    def matrix(self, sums):
        """(classes, classes)"""
        return np.asarray(sums).reshape(self.classes, self.classes)

    def value(self, sums):
        """Share on the diagonal."""
        return ratio(np.trace(self.matrix(sums)), np.sum(sums))


@dataclass(frozen=True)
class Precision:
    """Of those taken for a class, the share that are of it; the mean over the classes that occur ("macro").

    A class that nothing was taken for counts 0.
    """

    name = "precision"

    def sums(self, outputs, targets):
        """For each class: rightly taken for it, taken for it, of it."""
        K, guess = len(outputs), np.eye(len(outputs))[outputs.argmax(0)]
        truth = one_hot(targets, K, outputs.shape[-1], self.name)
        return np.concatenate([(guess * truth).sum(0), guess.sum(0), truth.sum(0)])

    def value(self, sums):
        """The mean over classes."""
        right, taken, there = np.reshape(sums, (3, -1))
        occurs = there > 0
        return float(np.mean(self.score(right[occurs], taken[occurs], there[occurs]))) if occurs.any() else float("nan")

    def score(self, right, taken, there):
        """Of each class."""
        return right / np.maximum(taken, 1)


@dataclass(frozen=True)
class Recall(Precision):
    """Of those of a class, the share that were taken for it; the mean over the classes that occur."""

    name = "recall"

    def score(self, right, taken, there):
        """Of each class."""
        return right / there


@dataclass(frozen=True)
class F1(Precision):
    """The harmonic mean of precision and recall of a class; the mean over the classes that occur."""

    name = "f1"

    def score(self, right, taken, there):
        """Of each class."""
        return 2 * right / (taken + there)


accuracy, top5, hinge, mse, mae, r2 = Accuracy(), TopK(5), Hinge(), MSE(), MAE(), R2()
precision, recall, f1 = Precision(), Recall(), F1()
