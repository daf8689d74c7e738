"""What was put into a network by hand, or is to be loaded, and can't be: each a check that says what to do instead."""

from collections.abc import Mapping

import numpy as np

from .tree import with_root


def check_weights(arrays, here):
    """Raise an error unless these arrays, a dict by name, have the names and shapes of those that are here.

    >>> check_weights({}, {"linear_1.weight": np.zeros((2, 3))})
    Traceback (most recent call last):
    ValueError: these weights belong to another network: missing ['linear_1.weight'], unknown nothing; ...
    """
    if not isinstance(arrays, Mapping):
        raise TypeError(f"weights are a dict of arrays by name, as model.state_dict() gives it, but got {arrays!r:.60}")
    missing, unknown = sorted(here.keys() - arrays.keys()), sorted(arrays.keys() - here.keys())
    if missing or unknown:
        raise ValueError(
            f"these weights belong to another network: missing {missing or 'nothing'}, unknown {unknown or 'nothing'}; "
            f"load them into a model of the same layers"
        )
    for name, array in here.items():
        if np.shape(arrays[name]) != array.shape:
            raise ValueError(
                f"{name} has shape {array.shape} in this network, but {np.shape(arrays[name])} in the weights to load; "
                f"load them into a model of the same layers and input shape"
            )


def check_shape(name, array, shape):
    """Raise a `ValueError` where something that was put in the place of an array has another shape.

    >>> check_shape("linear_1.weight.value", 3.0, (2, 3))
    Traceback (most recent call last):
    ValueError: linear_1.weight.value was given the shape (), but its layer was built for (2, 3): ...
    """
    if np.shape(array) != shape:
        raise ValueError(
            f"{name} was given the shape {np.shape(array)}, but its layer was built for {shape}: "
            f"write into it instead, {name.rpartition('.')[2]}[...] = numbers, or make a new model of the layers"
        )


def check_gone(name, layer):
    """Raise a `ValueError` where something else is in the place of a `Parameter`, which would never be trained."""
    attribute = name.rpartition(".")[2]
    there = getattr(layer, attribute, None)
    if there is not None:
        kind = type(there).__name__
        raise ValueError(f"{name} was replaced by {kind}, which nobody trains: write into it, {attribute}.value[...] = numbers")


def check_layers(root, layers=None):
    """Raise a `ValueError` where layers were put by hand into a network that is built, or taken out, or moved.

    `layers` is what `with_root` gave, where that is known.

    >>> from dtnn.nn import Linear, Residual, Sequential
    >>> net = Sequential(Residual(Linear(2)))
    >>> net.build((2,), np.random.default_rng(0))
    (2,)
    >>> net.layers[0].body.layers.append(Linear(2))
    >>> check_layers(net)
    Traceback (most recent call last):
    ValueError: layer 2, Linear(2), was put into a network that is built already: ...
    """
    for _, layer, _ in layers or with_root(root):
        if hasattr(layer, "check_unchanged"):  # a Sequential
            layer.check_unchanged()
