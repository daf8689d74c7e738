"""The methods of `Model` that look, before something is done with it, whether it can be: changed by hand, or at work."""

import numpy as np

from . import nn
from .nn.tree import named_parameters

ENDING = 10.0  # seconds that a run may take to end that was asked to


def settle(model):
    """Wait for what an interrupted training may still be compiling with this model, a few seconds at most."""
    check_net(model)
    if model.rehearsal is not None:
        model.rehearsal.wait()


def refresh(model):
    """Take over what was changed by hand, weights and what is frozen (``layer.trainable = False``); `fit` does it by itself.

    Raises
    ------
    RuntimeError
        What would have to change is being trained now.
    ValueError
        Layers were put in or taken out by hand, which changes nothing in a built network; says what to do.
    """
    check_net(model)
    model.parameters.take_over()
    wanted = [(name, trainable) for name, _, trainable in named_parameters(model.net)]
    if sorted(wanted) != sorted((segment.name, segment.trainable) for segment in model.parameters.segments):
        check_free(model)
        model.parameters = nn.Parameters(model.net, dtype=np.dtype(model.dtype))
        model.training = None  # the optimizer's vectors were of another length


def check_net(model):
    """Raise a `ValueError` if there are other `layers`, or another `net`: in a built model that changes nothing."""
    if model.parameters.layer is not model.net or [*model.layers] != model.net.layers:
        model.net.check_unchanged()
        raise ValueError(
            "model.layers are others than those that were built: make a new model of them, in which each keeps what it has "
            "learnt, Model(*layers, input_shape=model.input_shape)"
        )


def check_free(model):
    """Raise a `RuntimeError` if this model is being trained: what is begun then would spoil both.

    A run that was asked to stop is waited for, some seconds.
    """
    if getattr(model.run, "ending", False):
        model.run.wait(ENDING)
    if model.run is not None and not model.run.done:
        ends = "wait for it with model.run.wait(), or end it with model.run.end()"
        raise RuntimeError(f"this model is being trained by a run that goes on; {getattr(model.run, 'ends', ends)}")


def suited(model, rows, loss):
    """Samples checked against this model's input and, for a loss that takes labels, its number of outputs."""
    shape, labels = model.net.shapes[-1], getattr(loss, "takes_labels", False)
    classes = shape[0] if labels and len(shape) != 2 else None  # those of tokens are checked by the loss
    return rows.suit(model.input_shape, classes, model.takes_tokens)


def takes_tokens(model):
    """Whether it begins with an `Embedding`."""
    return isinstance(model.layers[0], nn.Embedding)
