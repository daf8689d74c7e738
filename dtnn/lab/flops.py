"""How much a layer computes."""

import math

from ..nn import (
    AvgPool2d,
    Concatenate,
    Conv2d,
    Embedding,
    Flatten,
    Linear,
    MaxPool2d,
    MultiHeadAttention,
    Reshape,
    Residual,
    Sequential,
    TransformerEncoderBlock,
)
from ..nn.one_layer import built_in


def flops(layer, shape, output):
    """Floating-point operations of the forward of one sample; None where they are not known (a layer of one's own).

    A product and its sum are two.  Of layers without products each number that comes out counts as one (of a pooling: each
    number that is looked at), so these are rough.  Backward costs about twice as much.

    Parameters
    ----------
    layer : Layer
        Built.
    shape, output : tuple of int
        Of one sample before and behind it.

    Returns
    -------
    int or None

    Examples
    --------
    >>> import numpy as np
    >>> layer = Linear(10)
    >>> flops(layer, (84,), layer.build((84,), np.random.default_rng(0)))
    1680
    """
    kind = type(layer)
    if not built_in(kind):
        return None
    if kind in (Linear, Conv2d):
        return 2 * layer.weight.value.size * math.prod(output[1:])
    if kind in (Flatten, Reshape, Embedding):
        return 0
    if kind in (MaxPool2d, AvgPool2d):
        return math.prod(output) * math.prod(layer._size)
    if kind is MultiHeadAttention:
        features, tokens = shape
        return 2 * tokens * features * (4 * features + 2 * tokens)
    inner = _inside(layer, shape, output)
    if inner is None:
        return max(math.prod(shape), math.prod(output))
    joined = math.prod(output) if kind is Residual else 0
    return None if None in inner else sum(inner) + joined


def _inside(layer, shape, output):
    """Those of the layers inside; None for a layer that has none."""
    if isinstance(layer, Sequential):
        befores = [shape, *layer.shapes[:-1]]
        return [flops(inner, before, after) for inner, before, after in zip(layer.layers, befores, layer.shapes)]
    branches = {
        Residual: lambda: [branch for branch in (layer.body, layer.shortcut) if branch],
        Concatenate: lambda: layer.branches,
        TransformerEncoderBlock: lambda: [layer.attention, layer.dense],
    }.get(type(layer))
    return branches and [flops(branch, shape, getattr(branch, "output_shape", None) or output) for branch in branches()]
