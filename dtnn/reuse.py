"""Layers that another model has built already, for a new one."""

import copy

from .nn.tree import named_layers, named_parameters


def fresh(layers):
    """The layers, with a copy of each that was built before; and a function that gives the copies back what they have learnt.

    Parameters
    ----------
    layers : sequence of Layer

    Returns
    -------
    tuple of Layer
        One that stands there twice is also copied once.
    function
        To be called when they are built again; parameters that have another shape there begin anew.

    Examples
    --------
    >>> from dtnn.nn import Linear
    >>> layer = Linear(3)
    >>> fresh([layer])[0][0] is layer
    True
    """
    memo, used, learnt = {}, [], []
    for layer in layers:
        if not _is_built(layer):
            used.append(layer)
            continue
        known = id(layer) in memo
        used.append(copy.deepcopy(layer, memo))
        if not known:
            learnt.append((used[-1], _values(used[-1])))

    def give_back():
        for layer, values in learnt:
            for name, array in _places(layer).items():
                if name in values and values[name].shape == array.shape:
                    array[...] = values[name]

    return tuple(used), give_back


def _is_built(layer):
    return any(True for _ in named_parameters(layer)) if hasattr(layer, "forward") else False


def _values(layer):
    return {name: array.copy() for name, array in _places(layer).items()}


def _places(layer):
    """All parameters and running statistics of a layer and of those inside it, by name."""
    places = {name: parameter.value for name, parameter, _ in named_parameters(layer)}
    for prefix, inner in [("", layer), *((name + ".", inner) for name, inner, _ in named_layers(layer))]:
        places |= {prefix + name: getattr(inner, name) for name in inner.buffers if hasattr(inner, name)}
    return places
