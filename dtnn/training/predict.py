"""What a model makes of inputs, batch first as the user has them; quick for a single one, too."""

import threading

import numpy as np

from ..data import batch_last
from ..nn.passes import Pass
from ..nn.replay import Replay

BATCH = 64  # samples at a time; with more, what layers hand on leaves the cache
FEW = 16  # samples whose buffers a model keeps from one prediction to the next


def predict(model, samples, *, batch_size=BATCH):
    """The model's outputs for all samples, batch first: ``(N, K)`` for K outputs, ``(N, H, W, C)`` for maps.

    Parameters
    ----------
    model : Model
        Used for inference: dropout does nothing, normalisation uses its running statistics.
    samples : Samples
        Inputs, batch first; targets are not looked at.
    batch_size : int
        Samples at a time; only memory and time depend on it.

    Returns
    -------
    ndarray
        The caller's own, whatever is predicted later.

    Notes
    -----
    Any number of threads may predict with one model at once.

    Examples
    --------
    >>> import dtnn, numpy as np
    >>> predict(dtnn.zoo.mlp(), dtnn.data.Samples(np.zeros((3, 28, 28, 1), np.uint8))).shape
    (3, 10)
    """
    kept = getattr(model, "inference", None) if min(batch_size, len(samples)) <= FEW else None
    if kept is None or not kept.lock.acquire(blocking=False):
        return _outputs(model, samples, batch_size, Pass(training=False), model.net.forward)
    try:
        return _outputs(model, samples, batch_size, kept.step, kept.forward_of(model))
    finally:
        kept.lock.release()


class Inference:
    """The pass, and so the buffers, that a model keeps for predictions of few samples: making them takes longer than using them.

    Whoever holds the lock may use it; who doesn't get the lock makes a pass of their own.
    """

    def __init__(self):
        self.step, self.lock = Pass(training=False), threading.Lock()
        self.parameters = self.replay = None

    def forward_of(self, model):
        """The network's forward; its layers are asked once for each number of samples, see `Replay`."""
        if self.parameters is not model.parameters:
            self.parameters, self.replay = model.parameters, Replay(model.net)
        return self.replay.forward


def _outputs(model, samples, batch_size, step, forward):
    dtype, result, total = np.int32 if samples.tokens else model.parameters.value.dtype, None, len(samples)
    for start in range(0, total, batch_size):
        stop = min(start + batch_size, total)
        step.begin(0, 0, stop - start, stop - start)
        x = samples.turned(start, stop, step.empty(batch_last(samples.input_shape, stop - start), dtype))
        y = batch_first(forward(x, step)[0])
        if result is None:
            result = np.empty((total, *y.shape[1:]), y.dtype)
        result[start:stop] = y
    return result


def batch_first(outputs):
    """A view as the user has it: (C, H, W, N) becomes (N, H, W, C), (D, T, N) becomes (N, T, D), (K, N) becomes (N, K)."""
    return outputs.swapaxes(0, -1)
