"""Which class is taken for which: `ConfusionMatrix`, and what it says of each class: `Precision`, `Recall`, `F1`."""

from dataclasses import dataclass

import numpy as np

from ..losses import check_labels, one_hot
from ..numbers import whole
from ..targets import as_rows_of
from .right import labels_of, ratio, yes_or_no


@dataclass(frozen=True)
class ConfusionMatrix:
    """How many samples of each class were taken for each: row = label, column = largest output.

    `value` is the accuracy that the matrix says; the matrix itself is `matrix(sums)`.

    Parameters
    ----------
    classes : int
        The number of outputs of the model; 2 for a single one, as `binary_cross_entropy` takes it.

    Raises
    ------
    ValueError
        If the model has another number of outputs, or a label is none of them.

    Examples
    --------
    >>> metric = ConfusionMatrix(2)
    >>> sums = metric.sums(np.array([[0.1, 0.9, 0.8], [0.9, 0.1, 0.2]]), np.array([1, 1, 0]))
    >>> metric.matrix(sums).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """

    classes: int
    name = "confusion"

    def __post_init__(self):
        object.__setattr__(self, "classes", whole(self.classes, "classes", "ConfusionMatrix"))

    def sums(self, outputs, targets):
        """The matrix, flat: classes x classes numbers, for outputs (classes, N) and targets as for `Accuracy`."""
        K = self.classes
        outputs, targets = as_rows_of(outputs, targets, self.name)
        if len(outputs) != K and (len(outputs), K) != (1, 2):
            raise ValueError(
                f"ConfusionMatrix(classes={K}): the model has {len(outputs)} outputs; "
                f"write ConfusionMatrix({max(2, len(outputs))}), or end the model with Linear({K})"
            )
        if len(outputs) == 1:
            labels, guess = yes_or_no(outputs, targets, self.name).astype(int), (outputs[0] > 0).astype(int)
        else:
            labels, guess = labels_of(outputs, targets, self.name), outputs.argmax(0)
        check_labels(labels, K, self.name)
        return np.bincount(labels * K + guess, minlength=K * K).astype(np.float64)

    def matrix(self, sums):
        """(classes, classes)"""
        return np.asarray(sums).reshape(self.classes, self.classes)

    def value(self, sums):
        """Share on the diagonal; NaN of no samples."""
        return ratio(np.trace(self.matrix(sums)), np.sum(sums))


@dataclass(frozen=True)
class Precision:
    """Of those taken for a class, the share that are of it; the mean over the classes that occur ("macro").

    A class that nothing was taken for counts 0.  With a single output z[n], as `binary_cross_entropy` takes it, that of class 1
    alone, which a sample is taken for where z > 0.

    Examples
    --------
    >>> outputs = np.array([[0.9, 0.8, 0.1, 0.2], [0.1, 0.2, 0.9, 0.8]])
    >>> precision.value(precision.sums(outputs, np.array([0, 1, 1, 1])))
    0.75
    """

    name = "precision"

    def sums(self, outputs, targets):
        """For each of the K classes: rightly taken for it, taken for it, of it; 3 K numbers for outputs (K, N)."""
        outputs, targets = as_rows_of(outputs, targets, self.name)
        if len(outputs) == 1:
            guess, truth = (outputs > 0).T, yes_or_no(outputs, targets, self.name)[:, None]
        else:
            guess = np.eye(len(outputs))[outputs.argmax(0)]
            truth = one_hot(targets, *outputs.shape, self.name)
        return np.concatenate([(guess * truth).sum(0), guess.sum(0), truth.sum(0)])

    def value(self, sums):
        """The mean over classes; NaN of no samples."""
        right, taken, there = np.reshape(sums, (3, -1))
        occurs = there > 0
        return float(np.mean(self.score(right[occurs], taken[occurs], there[occurs]))) if occurs.any() else float("nan")

    def score(self, right, taken, there):
        """Of each class."""
        return right / np.maximum(taken, 1)


@dataclass(frozen=True)
class Recall(Precision):
    """Of those of a class, the share that were taken for it; the mean over the classes that occur; of a single output as there.

    Examples
    --------
    >>> outputs = np.array([[0.9, 0.8, 0.1, 0.2], [0.1, 0.2, 0.9, 0.8]])
    >>> round(recall.value(recall.sums(outputs, np.array([0, 1, 1, 1]))), 6)
    0.833333
    """

    name = "recall"

    def score(self, right, taken, there):
        """Of each class."""
        return right / there


@dataclass(frozen=True)
class F1(Precision):
    """The harmonic mean of precision and recall of a class; the mean over the classes that occur; of a single output as there.

    Examples
    --------
    >>> outputs = np.array([[0.9, 0.8, 0.1, 0.2], [0.1, 0.2, 0.9, 0.8]])
    >>> round(f1.value(f1.sums(outputs, np.array([0, 1, 1, 1]))), 6)
    0.733333
    """

    name = "f1"

    def score(self, right, taken, there):
        """Of each class."""
        return 2 * right / (taken + there)


precision, recall, f1 = Precision(), Recall(), F1()
