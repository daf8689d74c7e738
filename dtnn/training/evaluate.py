"""Loss and metrics of a model on given samples, the same for any number of ranks and any batch size."""

import math

import numpy as np

from ..data import shares
from ..nn.losses import cross_entropy
from ..nn.metrics import accuracy
from ..nn.passes import Pass
from .predict import BATCH


def evaluate(comm, model, samples, *, loss=cross_entropy, metrics=(accuracy,), batch_size=None, own=None):
    """Mean loss and metrics over all samples; each rank takes its share of every batch.

    Sums are added up in float64 and reduced once, so the result is that of one rank to 1e-6 and exact for counts.

    Parameters
    ----------
    comm : Communicator
        The ranks that share the work; all of them get the result.
    model : Model
        Used for inference: dropout does nothing, normalisation uses its running statistics.
    samples : Samples
        Inputs, batch first, and targets.
    loss, metrics
        As in `train`.
    batch_size : int, optional
        Samples a step over all ranks, 64 for each if left out; only memory and time depend on it.
    own : dict, optional
        Gets the same of this rank's own share of the samples alone; NaN where it is empty.

    Returns
    -------
    dict of str to float
        ``loss`` and each metric by its name.

    Examples
    --------
    >>> import dtnn
    >>> sorted(evaluate(dtnn.comm.Serial(), dtnn.zoo.mlp(), dtnn.data.mnist5k().test))
    ['accuracy', 'loss']
    """
    sums, step, nothing = [np.zeros(2)] + [None] * len(metrics), Pass(training=False), np.zeros((*model.net.shapes[-1], 0))
    batch_size = batch_size or BATCH * comm.size
    for start in range(0, len(samples), batch_size):
        total = min(batch_size, len(samples) - start)
        first, count = shares(total, comm.size)[comm.rank]
        indices, dtype = np.arange(start + first, start + first + count), model.parameters.value.dtype
        y = samples.gather_targets(indices, dtype)
        outputs = infer(model, samples.gather_inputs(indices, dtype=dtype), step) if count else nothing
        # weight 1: only the sum of the losses is wanted, not the gradient's scale
        sums[0] += (loss(outputs, y, 1)[0], count) if count else (0, 0)
        for k, metric in enumerate(metrics, 1):
            part = metric.sums(outputs, y)
            sums[k] = part if sums[k] is None else sums[k] + part
    if own is not None:
        count = sums[0][1]
        own["loss"] = float(sums[0][0] / count) if count else math.nan
        own |= {metric.name: own_value(metric, part, count) for metric, part in zip(metrics, sums[1:])}
    together = np.concatenate([np.ravel(part) for part in sums]).astype(np.float64)
    comm.Allreduce(together)
    result, place = {"loss": float(together[0] / together[1])}, 2
    for metric, part in zip(metrics, sums[1:]):
        result[metric.name] = float(metric.value(together[place : place + part.size].reshape(part.shape)))
        place += part.size
    return result


def own_value(metric, sums, count):
    """A metric of one rank's own samples; NaN if there are none."""
    return float(metric.value(np.array(sums, np.float64))) if count else math.nan


def infer(model, x, step):
    """The outputs for inputs that are batch last already; buffers of the pass serve again in the next call."""
    step.begin(0, 0, x.shape[-1], x.shape[-1])
    return model.net.forward(x, step)[0]
