"""Labels in all their forms: (N,) and (N, 1) integers, (N, K) one-hot rows or shares; for each token (N, T) or (N, T, K)."""

import numpy as np

from ..allowed import shown


def arrays(outputs, name):
    """What a model gave, if it is an array."""
    if not isinstance(outputs, np.ndarray):
        raise TypeError(f"{name}: outputs are {shown(outputs)}; give an array (outputs, N), samples last, as a layer gives it")
    return outputs


def as_rows_of(outputs, targets, name):
    """Outputs (K, N) with their targets; of a sequence, outputs (K, T, N) and targets (N, T) or (N, T, K), each token is one.

    Raises
    ------
    ValueError
        If there is not one target a token; or a label of one is no output, which is named by sample and token.

    Examples
    --------
    >>> outputs, targets = as_rows_of(np.zeros((5, 3, 2)), np.array([[0, 1, 2], [3, 4, 0]]), "cross_entropy")
    >>> outputs.shape, targets.tolist()
    ((5, 6), [0, 3, 1, 4, 2, 0])
    """
    if arrays(outputs, name).ndim != 3:
        return outputs, targets
    (K, T, N), targets = outputs.shape, np.asarray(targets)
    if targets.shape[:2] != (N, T) or targets.ndim > 3:
        raise ValueError(
            f"{name}: targets have shape {targets.shape}, but the model gives {K} outputs for each of {T} tokens of {N} samples; "
            f"give a label for each token, {(N, T)}, or put Flatten() before the last Linear for one a sample"
        )
    if targets.ndim == 2 and targets.dtype.kind in "iu":
        for n, t in np.argwhere((targets < 0) | (targets >= K))[:1]:
            raise ValueError(
                f"{name}: label {targets[n, t]} of token {t} of sample {n} is none of the model's {K} outputs; "
                f"labels must be 0 .. {K - 1}"
            )
    return outputs.reshape(K, T * N), np.moveaxis(targets, 0, 1).reshape(T * N, *targets.shape[2:])


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
