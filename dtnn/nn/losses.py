"""Losses: (outputs, targets, weight) -> (sum of losses, gradient of sum / weight)."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ..kernels import losses
from .numbers import plain
from .regression_losses import binary_cross_entropy, huber, mae, mse
from .targets import arrays, as_labels, as_rows, as_rows_of

# what a name as text may mean; CrossEntropy and Huber, which have settings, are imported
__all__ = ["binary_cross_entropy", "cross_entropy", "hinge", "huber", "mae", "mse"]


def cross_entropy(outputs, targets, weight=None):
    """Cross-entropy of softmax, from logits: sum over n of log(sum_k exp z[k, n]) - z[t[n], n].

    Of a sequence each of the T tokens has a label, and the loss of a sample is the mean over its tokens: a language model is one
    whose labels are the tokens one further, ``y = x[:, 1:]`` for inputs ``x[:, :-1]``.

    Parameters
    ----------
    outputs : ndarray, (K, N) or (K, T, N)
        Logits z: what the last Linear gives, without a softmax.
    targets : ndarray
        Integer labels (N,) or (N, 1), or one-hot rows or shares (N, K); of a sequence (N, T) or (N, T, K).  A row of zeros
        counts nothing.
    weight : float, optional
        GLOBAL number of samples, which the gradient is divided by; None: N.

    Returns
    -------
    float
        The sum over this rank's samples (not divided).
    ndarray, (K, N) or (K, T, N)
        (softmax - one hot) / weight, of a sequence / (T weight).

    Raises
    ------
    ValueError
        If a label is no output of the model, or their numbers differ; names the first bad one.

    Notes
    -----
    The largest logit is subtracted first, so nothing overflows; sums are float64.  K exponentials a sample, one pass.

    Examples
    --------
    >>> loss, gradient = cross_entropy(np.zeros((2, 1), np.float32), np.array([1]))
    >>> round(loss, 6), gradient.ravel().tolist()
    (0.693147, [0.5, -0.5])
    """
    if np.ndim(outputs) == 3:
        return of_tokens(cross_entropy, outputs, targets, weight, "cross_entropy")
    outputs = logits(outputs, "cross_entropy")
    (K, N), d = outputs.shape, np.empty_like(outputs)
    labels = as_labels(targets, N, "cross_entropy")
    weight = float(N if weight is None else weight)
    if labels is None:
        return losses.cross_entropy_of_shares(outputs, as_rows(targets, K, "cross_entropy"), weight, d, np.empty(K)), d
    total, bad = losses.cross_entropy_of_labels(outputs, labels, weight, d, np.empty(K))
    if bad >= 0:
        raise not_a_label("cross_entropy", labels[bad], bad, K)
    return total, d


cross_entropy.takes_labels = True  # so labels can be checked before anything is trained


@dataclass(frozen=True)
class CrossEntropy:
    """`cross_entropy` with label smoothing: each target becomes (1 - s) one hot + s / K.

    Outputs (K, N) or (K, T, N) and targets as there, in one pass, too, after one-hot rows are made.

    Parameters
    ----------
    label_smoothing : float
        s, in [0, 1); spread over all K classes, the right one too (as in PyTorch and Keras).

    Notes
    -----
    Szegedy et al., "Rethinking the inception architecture", 2016.

    Examples
    --------
    >>> round(CrossEntropy(0.1)(np.array([[2.0], [0.0]]), np.array([0]))[0], 6)
    0.226928
    """

    label_smoothing: float = 0.0
    takes_labels = True

    def __post_init__(self):
        s = plain(self.label_smoothing)
        object.__setattr__(self, "label_smoothing", s)
        if not isinstance(s, Real) or not 0 <= s < 1:
            raise ValueError(f"CrossEntropy: label_smoothing is {s!r}; it must be in [0, 1), such as 0.1")

    def __call__(self, outputs, targets, weight=None):
        """(sum of losses, gradient of sum / weight)"""
        if not self.label_smoothing:
            return cross_entropy(outputs, targets, weight)
        if np.ndim(outputs) == 3:
            return of_tokens(self, outputs, targets, weight, "CrossEntropy")
        outputs = logits(outputs, "CrossEntropy")
        K, s = len(outputs), self.label_smoothing
        rows = one_hot(targets, *outputs.shape, "CrossEntropy")
        return cross_entropy(outputs, (1 - s) * rows + s / K * rows.sum(1, keepdims=True), weight)


def hinge(outputs, targets, weight=None):
    """Categorical hinge of Keras: max(0, 1 + the largest output of a wrong class - the output of the right one).

    Outputs (K, N) or (K, T, N), targets as for `cross_entropy`: integer labels (N,) or one-hot rows (N, K), of which one of
    zeros counts nothing; of a sequence (N, T) or (N, T, K).

    Notes
    -----
    A few passes of NumPy over the outputs, and 16 K bytes a sample.  Crammer and Singer, "On the algorithmic implementation of
    multiclass kernel-based vector machines", 2001.

    Examples
    --------
    >>> loss, gradient = hinge(np.array([[0.5], [0.2]]), np.array([0]))
    >>> round(loss, 6), gradient.ravel().tolist()
    (0.7, [-1.0, 1.0])
    """
    if np.ndim(outputs) == 3:
        return of_tokens(hinge, outputs, targets, weight, "hinge")
    outputs = logits(outputs, "hinge")
    K, N = outputs.shape
    right = one_hot(targets, K, N, "hinge").T > 0
    place, columns = right.argmax(0), np.arange(N)
    others = np.where(right, -np.inf, outputs)
    rival = others.argmax(0)
    margin = np.where(right.any(0), 1 + outputs[rival, columns] - outputs[place, columns], 0)  # of a row of zeros there is none
    slope = np.where(np.isnan(margin), margin, margin > 0) / (N if weight is None else weight)
    d = np.zeros_like(outputs)
    d[rival, columns] += slope
    d[place, columns] -= slope
    return float(np.where(margin <= 0, 0, margin).sum(dtype=np.float64)), d


hinge.takes_labels = True


def of_tokens(loss, outputs, targets, weight, name):
    """(sum of losses, gradient of sum / weight) for outputs (K, T, N): a sample's loss is the mean over its tokens."""
    T, N = outputs.shape[1:]
    rows, labels = as_rows_of(outputs, targets, name)
    total, d = loss(rows, labels, T * (N if weight is None else weight))
    return total / max(1, T), d.reshape(outputs.shape)


def logits(outputs, name):
    """Outputs of a classifier: (K, N), C-contiguous."""
    if arrays(outputs, name).ndim != 2:
        raise ValueError(
            f"{name}: outputs have shape {outputs.shape}, but must be (classes, N), or (classes, tokens, N) for a sequence; "
            "end the model with Flatten(), Linear(classes)"
        )
    return np.ascontiguousarray(outputs)


def one_hot(targets, classes, count, name):
    """Rows (N, K) of labels, or the rows themselves."""
    labels = as_labels(targets, count, name)
    if labels is None:
        return as_rows(targets, classes, name)
    check_labels(labels, classes, name)
    return np.eye(classes)[labels]


def check_labels(labels, classes, name):
    """Raise a `ValueError` that names the first of the labels (N,) that is no output of the model."""
    wrong = np.flatnonzero((labels < 0) | (labels >= classes))
    if wrong.size:
        raise not_a_label(name, labels[wrong[0]], wrong[0], classes)


def not_a_label(name, label, sample, classes):
    """The error for a label that is no output of the model."""
    return ValueError(
        f"{name}: label {label} of sample {sample} is none of the model's {classes} outputs; labels must be 0 .. {classes - 1}"
    )
