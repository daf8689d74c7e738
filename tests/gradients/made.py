"""Gradients of ranks that never were, with what a microscope would tell of them."""

import base64

import numpy as np

from dtnn.records import Gradients, GradientValues


def told(gradients, samples, step=7, asked="", after=None):
    """The records of a step: `gradients` is a dict of arrays (ranks, numbers), a rank's part of the mean each."""
    held = {name: array.sum(0, keepdims=True) for name, array in gradients.items()} | (after or {})
    before = [np.linalg.norm(array, axis=1) for array in gradients.values()]
    with np.errstate(invalid="ignore"):
        cosines = [array @ array.T / np.outer(norms, norms) for array, norms in zip(gradients.values(), before)]
    whole = [array.sum(0) for array in gradients.values()]
    local = sum(
        np.square(array[rank]).sum() * (sum(samples) / count) ** 2
        for array in gradients.values()
        for rank, count in enumerate(samples)
        if count
    )
    return Gradients(
        step,
        asked,
        list(samples),
        float(local),
        list(gradients),
        [norms.tolist() for norms in before],
        [np.linalg.norm(held[name], axis=1).tolist() for name in gradients],
        [float(np.linalg.norm(total)) for total in whole],
        [np.linalg.norm(held[name] - total, axis=1).tolist() for name, total in zip(gradients, whole)],
        [matrix.tolist() for matrix in cosines],
        1.0,
    )


def values(name, before, after, every=1, step=7):
    """The record of one parameter's numbers; arrays with a row for each rank."""
    text = lambda rows: [base64.b64encode(np.ascontiguousarray(row).tobytes()).decode() for row in rows]  # noqa: E731
    entry = {"shape": list(before.shape[1:]), "dtype": str(before.dtype), "every": every}
    return GradientValues(step, {name: {**entry, "before": text(before), "after": text(after)}}, 1.0)
