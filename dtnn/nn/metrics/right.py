"""How many samples are right: `Accuracy`, `TopK`."""

from dataclasses import dataclass

import numpy as np

from ..losses import check_labels
from ..numbers import whole
from ..targets import as_labels, as_rows, as_rows_of


def labels_of(outputs, targets, name):
    """Integer labels (N,) from any form, for outputs (K, N)."""
    labels = as_labels(targets, outputs.shape[-1], name)
    return as_rows(targets, len(outputs), name).argmax(1) if labels is None else labels


def yes_or_no(outputs, targets, name):
    """Targets (N,) or (N, 1) that are 0 or 1, whatever their type, for a single output (1, N)."""
    targets = np.asarray(targets)
    if targets.size != outputs.size:
        raise ValueError(f"{name}: targets have shape {targets.shape}, but there are {outputs.size} samples; give one a sample")
    targets = targets.reshape(-1)
    strange = targets[(targets != 0) & (targets != 1)]
    if strange.size:
        raise ValueError(
            f"{name}: a target is {strange[0]}; with a single output they are 0 or 1. For numbers to be met (regression) leave "
            'metrics out, or give metrics="mae"; for classes end the model with Linear(classes)'
        )
    return targets == 1


def ratio(part, total):
    """part / total; NaN of nothing."""
    return float(part / total) if total else float("nan")


@dataclass(frozen=True)
class Accuracy:
    """Share of the samples n whose largest output argmax_k z[k, n] is the label t[n].

    With a single output z[n], as `binary_cross_entropy` takes it, the label is 1 where z > 0, else 0.  Of a sequence each token
    has a label, and counts like a sample.

    Examples
    --------
    >>> sums = accuracy.sums(np.array([[0.1, 0.9], [0.9, 0.1]]), np.array([1, 1]))
    >>> sums.tolist(), accuracy.value(sums)
    ([1.0, 2.0], 0.5)
    """

    name = "accuracy"

    def sums(self, outputs, targets):
        """(number right, number) for outputs (K, N) and targets (N,), (N, 1) or one-hot (N, K); or (K, T, N) and (N, T)."""
        outputs, targets = as_rows_of(outputs, targets, self.name)
        if len(outputs) == 1:
            return np.array([np.count_nonzero((outputs[0] > 0) == yes_or_no(outputs, targets, self.name)), outputs.size], float)
        labels = labels_of(outputs, targets, self.name)
        return np.array([np.count_nonzero(outputs.argmax(0) == labels), len(labels)], np.float64)

    def value(self, sums):
        """The share; NaN of no samples."""
        return ratio(*sums)


@dataclass(frozen=True)
class TopK:
    """Share of the samples n whose label t[n] is among the k largest outputs z[:, n]; of equal outputs the first come first.

    Parameters
    ----------
    k : int
        At least 1; with k = 1 it is the accuracy, with as many as there are classes it is 1.

    Raises
    ------
    ValueError, TypeError
        If k is no whole number from 1 on; when it measures, if a label is no output of the model.

    Examples
    --------
    >>> metric, outputs = TopK(2), np.array([[0.7, 0.1], [0.2, 0.3], [0.1, 0.6]])
    >>> sums = metric.sums(outputs, np.array([1, 0]))
    >>> metric.name, sums.tolist(), metric.value(sums)
    ('top2', [1.0, 2.0], 0.5)
    """

    k: int = 5

    def __post_init__(self):
        object.__setattr__(self, "k", whole(self.k, "k", "TopK"))

    @property
    def name(self):
        """Such as "top5"."""
        return f"top{self.k}"

    def sums(self, outputs, targets):
        """(number among them, number) for outputs and targets as for `Accuracy`, of more than one output."""
        outputs, targets = as_rows_of(outputs, targets, self.name)
        labels = labels_of(outputs, targets, self.name)
        check_labels(labels, len(outputs), self.name)
        own = outputs[labels, np.arange(len(labels))]
        before = (outputs > own).sum(0) + ((outputs == own) & (np.arange(len(outputs))[:, None] < labels)).sum(0)
        return np.array([np.count_nonzero((before < self.k) & ~np.isnan(own)), len(labels)], np.float64)

    def value(self, sums):
        """The share; NaN of no samples."""
        return ratio(*sums)


accuracy, top5 = Accuracy(), TopK(5)
