"""One layer of a network is built and run: a built-in one as it is, one of the user's own on copies."""

from functools import cache

import numpy as np

from .build_checks import check_built
from .layer import Layer, call_forward
from .passes import Pass, checked, joined


@cache
def built_in(kind):
    """Whether a class keeps the agreements of the built-in layers about buffers."""
    return kind.__module__.startswith(__package__ + ".")


def build_layer(layer, shape, rng):
    """Shape behind a layer; one of the user's own that says nothing is asked by trying it out."""
    if built_in(type(layer)) or type(layer).build is not Layer.build:
        return layer.build(shape, rng)
    return call_forward(layer, np.zeros((*shape, 2), np.float32), Pass())[0].shape[:-1]


def run(layer, x, step, options):
    """One layer's forward.  A layer of the user's own works on copies: it may keep, change and return what it likes."""
    if built_in(type(layer)):
        check_built(layer)
        return layer.forward(x, step, **options)
    dtype = x.dtype if x.dtype == np.float64 else np.float32
    y, backward = _own_forward(layer, step.copy(x), step)
    y = step.copy(y, dtype)
    if y.shape[-1:] != x.shape[-1:]:
        raise ValueError(
            f"{layer!r}: forward returned shape {y.shape} for {x.shape}; the last axis is the batch and must stay {x.shape[-1]}"
        )

    def on_copies(dy, into=None):
        dx = backward(step.copy(checked(dy, y.shape[:-1], layer, step, dtype)))
        if dx is None or step.is_input(x):
            return None
        return step.copy(dx, dtype) if into is None else joined(dx, into)

    return y, on_copies


def _own_forward(layer, x, step):
    """(y, backward) of a layer of the user's own; in inference, where no backward is needed, there may be none."""
    if not step.training and type(layer).__call__ is not Layer.__call__:
        return layer(x), None
    result = call_forward(layer, x, step)
    pair = isinstance(result, tuple) and len(result) == 2
    if not pair or (step.training and not callable(result[1])):
        raise TypeError(
            f"{layer!r}: forward returned {type(result).__name__}; it must return (y, backward), backward a function of dy"
        )
    return result
