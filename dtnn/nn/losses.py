"""Losses: (outputs, targets, weight) -> (sum of losses, gradient of sum / weight)."""

import numpy as np

from ..kernels import losses
from .targets import as_labels, as_rows


def cross_entropy(outputs, targets, weight=None):
    """Cross-entropy of softmax, from logits: sum over n of log(sum_k exp z[k, n]) - z[t[n], n].

    Parameters
    ----------
    outputs : ndarray, (K, N)
        Logits z: what the last Linear gives, without a softmax.
    targets : ndarray
        Integer labels (N,) or (N, 1), or one-hot rows or shares (N, K).  A row of zeros counts nothing.
    weight : float, optional
        GLOBAL number of samples, which the gradient is divided by; None: N.

    Returns
    -------
    float
        The sum over this rank's samples (not divided).
    ndarray, (K, N)
        (softmax - one hot) / weight.

    Raises
    ------
    ValueError
        If a label is no output of the model, or their numbers differ; names the first bad one.

    Notes
    -----
    The largest logit is subtracted first, so nothing overflows; sums are float64.

    Examples
    --------
    >>> loss, gradient = cross_entropy(np.zeros((2, 1), np.float32), np.array([1]))
    >>> round(loss, 6), gradient.ravel().tolist()
    (0.693147, [0.5, -0.5])
    """
    if outputs.ndim != 2:
        raise ValueError(
            f"cross_entropy: outputs have shape {outputs.shape}, but must be (classes, N); end the model with Linear(classes)"
        )
    K, N = outputs.shape
    outputs, d = np.ascontiguousarray(outputs), np.empty_like(outputs, order="C")
    labels = as_labels(targets, N, "cross_entropy")
    weight = float(N if weight is None else weight)
    if labels is None:
        return losses.cross_entropy_of_shares(outputs, as_rows(targets, K, "cross_entropy"), weight, d), d
    total, bad = losses.cross_entropy_of_labels(outputs, labels, weight, d)
    if bad >= 0:
        raise ValueError(
            f"cross_entropy: label {labels[bad]} of sample {bad} is none of the model's {K} outputs; labels must be 0 .. {K - 1}"
        )
    return total, d


cross_entropy.takes_labels = True  # so labels can be checked before anything is trained
