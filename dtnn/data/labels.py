"""What a network is to answer: class labels, or numbers for a regression."""

import numpy as np

from ..allowed import shown, whole
from .inputs import as_array, check_finite


def targets(y, count, name="y", of="x"):
    """The targets of `count` samples as dtnn keeps them: whole numbers as int64 (N, ...), others as float32 (N, K).

    Raises
    ------
    TypeError
        They are no numbers.
    ValueError
        Their number differs from `count`, or one is NaN or infinite.

    Examples
    --------
    >>> targets([[3], [1]], 2)
    array([3, 1])
    >>> targets([0.5, 1.0, 2.0], 2)
    Traceback (most recent call last):
    ...
    ValueError: x has 2 samples, y has 3: each sample needs its own target; check how they were selected
    """
    given, y = y, as_array(y, name)
    if y.ndim == 0:
        raise TypeError(f"{name}={shown(given)}: give an array of {count} targets, one a sample")
    if y.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} has dtype {y.dtype}: targets are numbers. "
            f"Names become labels by classes, {name} = np.unique({name}, return_inverse=True)"
        )
    if len(y) != count:
        raise ValueError(
            f"{of} has {count} samples, {name} has {len(y)}: each sample needs its own target; check how they were selected"
        )
    if y.dtype.kind == "f":
        y = np.ascontiguousarray(y.reshape(count, -1) if y.ndim < 2 else y, dtype=np.float32)
        check_finite(y, name)
        return y
    return np.ascontiguousarray(y.reshape(count) if y.shape == (count, 1) else y, dtype=np.int64)


def labels(y, classes, name="y"):
    """Class labels 0 .. classes-1, int64 (N,), from whatever form they have.

    (N,) or (N, 1) of whole numbers, floats among them, and exact one-hot rows (N, classes) mean the same labels.

    Raises
    ------
    ValueError
        A label out of range, not a whole number, or a row that is not one-hot; the message names the first.

    Examples
    --------
    >>> labels([[0, 0, 1], [0, 1, 0]], 3)
    array([2, 1])
    >>> labels([2, 0, 3], 3)
    Traceback (most recent call last):
    ...
    ValueError: y[2] is 3, but with 3 classes the labels go from 0 to 2. Correct it, or give the last layer one output a class
    """
    y, classes = np.asarray(y), whole("classes", classes, 1)
    if y.ndim == 2 and y.shape[1] != 1:
        return _from_one_hot(y, classes, name)
    if y.ndim > 2:
        raise ValueError(f"{name} has shape {y.shape}: labels are one whole number a sample (N,), or one-hot rows (N, {classes})")
    y = y.reshape(len(y))
    _first(y != np.floor(y), y, name, "labels are whole numbers. For numbers to be predicted (regression) use loss=mse")
    counted_from_one = y.min() == 1 and y.max() == classes
    remedy = f"Count them from 0: {name} - 1" if counted_from_one else "Correct it, or give the last layer one output a class"
    range_ = f"but with {classes} classes the labels go from 0 to {classes - 1}. {remedy}"
    _first((y < 0) | (y >= classes), y, name, range_, joined=", ")
    return y.astype(np.int64, copy=False)


def _from_one_hot(y, classes, name):
    if y.shape[1] != classes:
        raise ValueError(
            f"{name} has rows of {y.shape[1]} numbers, but there are {classes} classes: one-hot rows need one number a class. "
            f"Give the last layer {y.shape[1]} outputs, or pass labels (N,)"
        )
    bad = ((y != 0) & (y != 1)).any(axis=1) | (y.sum(axis=1) != 1)
    _first(bad, y, name, "a one-hot row has a single 1 and else 0. For numbers to be predicted (regression) use loss=mse")
    return y.argmax(axis=1)


def _first(bad, y, name, message, joined=": "):
    if bad.any():
        index = int(np.argmax(bad))
        raise ValueError(f"{name}[{index}] is {y[index]}{joined}{message}")
