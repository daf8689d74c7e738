"""Labels in all their forms: (N,) and (N, 1) integers, (N, K) one-hot rows or shares."""

import numpy as np

from ..allowed import shown


def arrays(outputs, name):
    """What a model gave, if it is an array."""
    if not isinstance(outputs, np.ndarray):
        raise TypeError(f"{name}: outputs are {shown(outputs)}; give an array (outputs, N), samples last, as a layer gives it")
    return outputs


def as_labels(targets, count, name):
    """Integer labels (N,), or None if the targets are (N, K) rows.

    Raises
    ------
    ValueError
        If there are more or fewer than `count`, or the form is neither.
    """
    targets = np.asarray(targets)
    if targets.shape[:1] != (count,):
        raise ValueError(f"{name}: targets have shape {targets.shape}, but there are {count} samples; give one target a sample")
    if targets.ndim == 2 and targets.shape[1] > 1:
        return None
    if targets.ndim > 2 or targets.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: targets have shape {targets.shape} and type {targets.dtype}; give integer labels (N,) or one-hot "
            f"rows (N, K), or use another loss, and metric, if these are numbers to be met"
        )
    return np.ascontiguousarray(targets.reshape(-1), np.int64)


def as_rows(targets, classes, name):
    """Shares (N, K) as C-contiguous float64."""
    targets = np.asarray(targets)
    if targets.shape[1] != classes:
        raise ValueError(
            f"{name}: targets have {targets.shape[1]} columns, but the model has {classes} outputs; they must be equal"
        )
    return np.ascontiguousarray(targets, np.float64)
