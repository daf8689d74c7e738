"""The layers inside a layer, and what they hold, by name."""

import numpy as np

from .layer import inside, own_parameters


def named_layers(root):
    """(name, layer, trainable) of every layer below `root`, each once, in order.

    A layer in a list is called by its class and its number among all of that class ("conv2d_2"), one that is an
    attribute by the attribute's name ("body"); names are joined by dots.
    """
    counts, seen = {}, set()

    def walk(layer, prefix, trainable):
        for name, position, child in inside(layer):
            if id(child) in seen:
                continue
            seen.add(id(child))
            kind = type(child).__name__.lower()
            if position is not None:
                counts[kind] = counts.get(kind, 0) + 1
                name = f"{kind}_{counts[kind]}"
            live = trainable and child.trainable
            yield prefix + name, child, live
            yield from walk(child, prefix + name + ".", live)

    yield from walk(root, "", root.trainable)


def named_parameters(root, layers=None):
    """(name, parameter, trainable) of every parameter, each once: a tied one by its first name.

    `layers` is what `with_root` gave, where that is known.
    """
    seen, found = set(), []
    for prefix, layer, live in layers or with_root(root):
        for name, parameter in own_parameters(layer):
            if id(parameter) not in seen:
                seen.add(id(parameter))
                found.append((prefix + name, parameter, live and parameter.trainable))
    return found


def named_buffers(root, dtype, layers=None):
    """Running statistics by name; converts them to the network's type; `layers` as for `named_parameters`."""
    found = {}
    for prefix, layer, _ in layers or with_root(root):
        for name in layer.buffers:
            setattr(layer, name, np.ascontiguousarray(getattr(layer, name), dtype))
            found[prefix + name] = getattr(layer, name)
    return found


def with_root(root):
    """[(prefix of the names of what it holds, layer, trainable), ...] of the root and every layer below it."""
    return [("", root, root.trainable), *((f"{name}.", layer, live) for name, layer, live in named_layers(root))]
