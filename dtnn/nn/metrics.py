"""Metrics: a fixed-length float64 vector of sums over samples, and a function of it.

So they add up over batches and ranks; a mean of means is never taken.
"""

import numpy as np

from .targets import as_labels, as_rows


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
        labels = as_labels(targets, outputs.shape[-1], self.name)
        if labels is None:
            labels = as_rows(targets, len(outputs), self.name).argmax(1)
        return np.array([np.count_nonzero(outputs.argmax(0) == labels), len(labels)], np.float64)

    def value(self, sums):
        """The share; NaN of no samples."""
        return float(sums[0] / sums[1]) if sums[1] else float("nan")

    def __repr__(self):
        return self.name


accuracy = Accuracy()
