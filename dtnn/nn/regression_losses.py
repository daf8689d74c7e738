"""Losses for numbers that are to be met: (outputs, targets, weight) -> (sum of losses, gradient of sum / weight).

The loss of a sample is the mean over its outputs, so that `weight` is the global number of samples for every loss.
"""

from dataclasses import dataclass

import numpy as np

from ..allowed import number
from .numbers import plain
from .targets import arrays

# what a name as text may mean, beside the class
__all__ = ["binary_cross_entropy", "huber", "mae", "mse"]


def as_numbers(outputs, targets, name):
    """Targets (N, ...) as (..., N) in the type of the outputs.

    Raises
    ------
    ValueError
        If there are not as many as outputs.
    """
    targets, outputs = np.asarray(targets), arrays(outputs, name)
    targets = targets[:, None] if targets.ndim == 1 else targets
    expected = (*outputs.shape[-1:], *outputs.shape[:-1])
    if targets.shape != expected:
        raise ValueError(
            f"{name}: targets have shape {targets.shape}, but the model gives {expected}; "
            f"they must be equal (labels need another loss, such as cross_entropy)"
        )
    return np.moveaxis(targets, 0, -1).astype(outputs.dtype)


def per_sample(outputs, terms, slopes, weight):
    """(sum of the terms, slopes / weight), both divided by the number of outputs of a sample."""
    N = outputs.shape[-1]
    count = max(1, outputs.size // max(1, N))
    d = slopes / (count * (N if weight is None else weight))
    return float(terms.sum(dtype=np.float64)) / count, d.astype(outputs.dtype)


def mse(outputs, targets, weight=None):
    """Mean squared error: (y - t)^2.

    Outputs y (D, N), targets t (N,) or (N, D).

    Notes
    -----
    A few passes of NumPy over the outputs.

    Examples
    --------
    >>> loss, gradient = mse(np.array([[1.0, 2.0]]), np.array([0.0, 0.0]))
    >>> loss, gradient.tolist()
    (5.0, [[1.0, 2.0]])
    """
    d = outputs - as_numbers(outputs, targets, "mse")
    return per_sample(outputs, d * d, 2 * d, weight)


def mae(outputs, targets, weight=None):
    """Mean absolute error: |y - t|; its slope at 0 is 0.

    Outputs y (D, N), targets t (N,) or (N, D).

    Notes
    -----
    A few passes of NumPy over the outputs.

    Examples
    --------
    >>> loss, gradient = mae(np.array([[1.0, -2.0]]), np.array([0.0, 0.0]))
    >>> loss, gradient.tolist()
    (3.0, [[0.5, -0.5]])
    """
    d = outputs - as_numbers(outputs, targets, "mae")
    return per_sample(outputs, np.abs(d), np.sign(d), weight)


@dataclass(frozen=True)
class Huber:
    """d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), for d = y - t; outputs y (D, N), targets t (N,) or (N, D).

    Parameters
    ----------
    delta : float
        Where the parabola becomes a line.

    Raises
    ------
    ValueError, TypeError
        `delta` is no number above 0.

    Notes
    -----
    A few passes of NumPy over the outputs.  Huber, "Robust estimation of a location parameter", 1964.

    Examples
    --------
    >>> Huber(1.0)(np.array([[3.0]]), np.array([0.0]))[0]
    2.5
    """

    delta: float = 1.0

    def __post_init__(self):
        number("Huber: delta", self.delta, "a number above 0, such as 1.0", lambda delta: 0 < delta < np.inf)
        object.__setattr__(self, "delta", plain(self.delta))

    def __call__(self, outputs, targets, weight=None):
        """(sum of losses, gradient of sum / weight)"""
        d = outputs - as_numbers(outputs, targets, "Huber")
        inner = np.abs(d) <= self.delta
        terms = np.where(inner, d * d / 2, self.delta * (np.abs(d) - self.delta / 2))
        return per_sample(outputs, terms, np.where(np.isnan(d), d, np.clip(d, -self.delta, self.delta)), weight)


def huber(outputs, targets, weight=None):
    """`Huber` with delta 1; outputs (D, N), targets (N,) or (N, D).

    Notes
    -----
    A few passes of NumPy over the outputs.  Huber, "Robust estimation of a location parameter", 1964.

    Examples
    --------
    >>> huber(np.array([[3.0, 0.5]]), np.array([0.0, 0.0]))[0]
    2.625
    """
    return Huber()(outputs, targets, weight)


def binary_cross_entropy(outputs, targets, weight=None):
    """log(1 + e^z) - t z, from logits z, for targets t between 0 and 1; written so that nothing overflows.

    Outputs z (D, N), targets t (N,) or (N, D).

    Raises
    ------
    ValueError
        If a target is not between 0 and 1.

    Notes
    -----
    A few passes of NumPy over the outputs.

    Examples
    --------
    >>> loss, gradient = binary_cross_entropy(np.array([[0.0]]), np.array([1]))
    >>> round(loss, 6), gradient.tolist()
    (0.693147, [[-0.5]])
    """
    t = as_numbers(outputs, targets, "binary_cross_entropy")
    if t.size and not (t.min() >= 0 and t.max() <= 1):
        bad = t.min() if not t.min() >= 0 else t.max()
        raise ValueError(
            f"binary_cross_entropy: a target is {bad}; they must be between 0 and 1: divide them by their largest value"
        )
    small = np.exp(-np.abs(outputs))
    terms = np.maximum(outputs, 0) - outputs * t + np.log1p(small)
    share = np.where(outputs >= 0, 1, small) / (1 + small)
    return per_sample(outputs, terms, share - t, weight)
