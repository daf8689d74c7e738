"""`Sequential`: layers in a row; finds what can be done in one pass over memory."""

import inspect
from functools import cache

import numpy as np

from ..kernels.tape import call
from .conv2d import Conv2d
from .layer import Layer
from .one_layer import build_layer, built_in, run
from .passes import Pass, joined
from .pooling import MaxPool2d
from .rectifiers import ReLU
from .tree import named_layers


class Sequential(Layer):
    """One layer after the other.

    When it is built it finds what fuses: a ReLU is done by the Conv2d, Linear, MaxPool2d, BatchNorm or Residual before it, and
    moves behind a MaxPool2d (the maximum of ReLUs is the ReLU of the maximum).  The numbers are the same.

    Parameters
    ----------
    *layers : Layer
        In the order in which they work.

    Attributes
    ----------
    layers : list of Layer
    shapes : list of tuple
        Shape of one sample behind each layer, once built.
    output_shape : tuple
        Shape of one sample behind the last.

    Examples
    --------
    >>> from dtnn.nn import Flatten, Linear
    >>> net = Sequential(Flatten(), Linear(16), ReLU(), Linear(10))
    >>> net.build((1, 8, 8), np.random.default_rng(0))
    (10,)
    >>> net(np.zeros((1, 8, 8, 5), np.float32)).shape
    (10, 5)
    """

    replays = True

    def __init__(self, *layers):
        for layer in layers:
            if not isinstance(layer, Layer):
                hint = f"write {layer.__name__}(...)" if isinstance(layer, type) else "derive its class from dtnn.nn.Layer"
                hint = "write them one after the other, or *layers" if isinstance(layer, list | tuple) else hint
                raise TypeError(f"Sequential takes layers, but got {layer!r}; {hint}")
        self.layers, self.shapes, self.output_shape = list(layers), [], None
        self._take()

    def build(self, shape, rng):
        """Each layer in turn; an error says which one."""
        names = {id(layer): name for name, layer, _ in named_layers(self)}
        self.shapes = []
        self._take()
        for number, layer in enumerate(self.layers, 1):
            try:
                shape = tuple(build_layer(layer, tuple(shape), rng))
            except (ValueError, TypeError) as error:
                raise type(error)(f"layer {number} ({names[id(layer)]}, {layer!r}): {error}") from error
            self.shapes.append(shape)
        self.output_shape = shape
        return shape

    def _take(self):
        self._plan, self._taken = fused(self.layers), (list(self.layers),)  # a list in a tuple: no layers to be found there

    def check_unchanged(self):
        """Raise a `ValueError` if a layer was put in, taken out or moved by hand since the layers were built.

        Examples
        --------
        >>> net = Sequential(ReLU())
        >>> net.layers.append(MaxPool2d(2))
        >>> net.check_unchanged()
        Traceback (most recent call last):
        ValueError: layer 2, MaxPool2d(2), was put into a network that is built already: make a new model of the layers, ...
        """
        (taken,) = self._taken
        if self.layers == taken:
            return
        known, now = [*map(id, taken)], [*map(id, self.layers)]
        new = next((place for place, number in enumerate(now) if number not in known), None)
        gone = next((place for place, number in enumerate(known) if number not in now), None)
        if new is not None:
            what = f"layer {new + 1}, {self.layers[new]!r}, was put into"
        elif gone is not None:
            what = f"layer {gone + 1}, {taken[gone]!r}, was taken out of"
        else:
            what = "the order of the layers was changed in"
        raise ValueError(
            f"{what} a network that is built already: make a new model of the layers, which keep what they have learnt, "
            "Model(*model.net.layers, input_shape=model.input_shape); of a net alone, call build"
        )

    def takes(self, option):
        """Whether the last layer can do something in its pass for whoever holds this Sequential (`relu`, `added`)."""
        return bool(self._plan) and "relu" not in self._plan[-1][1] and takes(self._plan[-1][0], option)

    def forward(self, x, step=None, **last):
        """y, backward; `last` goes to the last layer."""
        if self.layers != self._taken[0]:
            self.check_unchanged()
        step = step or Pass()
        backwards, watched = [], step.watched
        for number, (layer, options) in enumerate(self._plan, 1):
            x, backward = run(layer, x, step, {**options, **last} if last and number == len(self._plan) else options)
            backwards.append(telling(backward, layer, step) if watched else backward)
            if watched:
                call(step.tell_forward, layer)

        def backward(dy, into=None):
            if not backwards:
                return joined(dy, into)
            own = False  # whether dy was made here, so that nobody else needs it
            for back in backwards[:0:-1]:
                dx = back(dy)
                if dx is None:  # behind the model's input: nobody wants more
                    return None
                if not np.may_share_memory(dx, dy):
                    own = give_back(step, dy, own)
                dy = dx
            dx = backwards[0](dy) if into is None else backwards[0](dy, into=into)
            if dx is None or not np.may_share_memory(dx, dy):
                give_back(step, dy, own)
            return dx

        return x, backward


def telling(backward, layer, step):
    """The same backward; the watcher of the pass is told when it is done."""

    def told(dy, **into):
        dx = backward(dy, **into)
        call(step.tell_backward, layer)
        return dx

    return told


def give_back(step, dy, own):
    """Let the memory of a gradient that was made here and is used up serve again; the next one is made here, too."""
    if own:
        step.give_back(dy)
    return True


def fused(layers):
    """What runs: a list of (layer, what it does in the same pass).

    Examples
    --------
    >>> fused([Conv2d(6, 5), ReLU(), MaxPool2d(2)])
    [(Conv2d(6, 5), {}), (MaxPool2d(2), {'over': True, 'relu': True})]
    """
    layers, plan = list(layers), []
    for i in range(len(layers) - 1):
        if type(layers[i]) is ReLU and type(layers[i + 1]) is MaxPool2d:
            layers[i], layers[i + 1] = layers[i + 1], layers[i]
    for layer in layers:
        if type(layer) is ReLU and plan and "relu" not in plan[-1][1] and takes(plan[-1][0], "relu"):
            plan[-1][1]["relu"] = True
            continue
        free = plan and type(plan[-1][0]) is Conv2d and not plan[-1][1]  # without ReLU it needs its output no more
        plan.append((layer, {"over": True} if free and takes(layer, "over") else {}))
    return plan


def takes(layer, option):
    """Whether the forward of a layer offers to do something in the same pass; one of the user's own never does."""
    if isinstance(layer, Sequential):
        return layer.takes(option)
    return built_in(type(layer)) and option in options(type(layer))


@cache
def options(kind):
    """The names that the forward of a class takes."""
    return tuple(inspect.signature(kind.forward).parameters)
