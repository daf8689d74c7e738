"""`Residual` and `Concatenate`: branches that part and join."""

import numpy as np

from ..kernels.activations import mask_delta
from ..kernels.sums import add
from ..kernels.tape import call
from .conv2d import Conv2d
from .layer import Layer
from .linear import Linear
from .passes import Pass, assign, checked, joined
from .sequential import Sequential


class Residual(Layer):
    """y = body(x) + shortcut(x); without a shortcut y = body(x) + x, y and x (..., N) of one shape.

    Parameters
    ----------
    body : Layer
        Usually a Sequential.
    shortcut : Layer, optional
        A projection, where the body changes the shape.

    Raises
    ------
    ValueError
        When built, if the two shapes differ.

    Notes
    -----
    If the body ends with a BatchNorm, that does the sum, and a ReLU that follows, in its own pass.  Backward, the first
    convolution of the body adds its dx to the gradient of the shortcut: the sum costs no pass of its own.
    He et al., "Deep residual learning", 2016.

    Examples
    --------
    >>> from dtnn.nn import BatchNorm2d, ReLU
    >>> block = Residual(Sequential(Conv2d(8, 3, padding=1), BatchNorm2d(), ReLU(), Conv2d(8, 3, padding=1), BatchNorm2d()))
    >>> block.build((8, 4, 4), np.random.default_rng(0))
    (8, 4, 4)
    """

    replays = True

    def __init__(self, body, shortcut=None):
        self.body = body if isinstance(body, Sequential) else Sequential(body)
        self.shortcut = shortcut if shortcut is None or isinstance(shortcut, Sequential) else Sequential(shortcut)

    def build(self, shape, rng):
        """Shape behind the body."""
        out = self.body.build(shape, rng)
        side = self.shortcut.build(shape, rng) if self.shortcut else tuple(shape)
        if out != side:
            what = "shortcut" if self.shortcut else "input, which is the shortcut,"
            raise ValueError(
                f"Residual: the body gives {out} for {tuple(shape)}, but the {what} has shape {side}; both must be equal: "
                f"change the body, or give a shortcut that changes the shape too, such as Conv2d(..., 1, stride)"
            )
        return out

    def forward(self, x, step=None, relu=False):
        """y, backward; with `relu` y = max(0, body(x) + shortcut(x))."""
        step = step or Pass()
        x = checked(x, None, self, step)
        side, side_backward = self.shortcut.forward(x, step) if self.shortcut else (x, None)
        fused = self.body.takes("added")
        if fused:
            y, body_backward = self.body.forward(x, step, added=side, relu=relu)
        else:
            inner, body_backward = self.body.forward(x, step)
            y = step.empty(inner.shape, inner.dtype)
            add(inner, side, y, relu)

        def backward(dy, into=None):
            dy = checked(dy, y.shape[:-1], self, step, y.dtype)
            if relu and not fused:
                mask_delta(dy, y)
            inner_dy = dy if fused or leaves_delta(self.body) else step.copy(dy)
            if side_backward is None:
                dx = body_backward(inner_dy, into=dy)
                return dx if dx is None else joined(dx, into)
            dx = body_backward(inner_dy) if into is None else body_backward(inner_dy, into=into)
            return side_backward(dy) if dx is None else side_backward(dy, into=dx)

        return y, backward


def leaves_delta(body):
    """Whether the last layer of the body leaves the dy that it is given as it is, and has read it before the first adds to it.

    Not so where the last layer is the first: its data gradient would be added to what it still reads.
    """
    return len(body._plan) > 1 and type(body._plan[-1][0]) in (Conv2d, Linear) and not body._plan[-1][1]


class Concatenate(Layer):
    """y = the outputs of the branches, one after the other along the channels (the first axis).

    x (C, ..., N); branches give (C1, ..., N), (C2, ..., N) ..., y (C1 + C2 + ..., ..., N).

    Parameters
    ----------
    *branches : Layer
        Each gets x; `Sequential()` is x itself.

    Raises
    ------
    ValueError
        When built, if the branches' shapes differ in more than the number of channels.

    Notes
    -----
    A pass over y forward, which copies; backward, a branch gets its part of dy.  Szegedy et al., "Going deeper with
    convolutions", 2015.

    Examples
    --------
    >>> layer = Concatenate(Sequential(), Conv2d(4, 1))
    >>> layer.build((3, 8, 8), np.random.default_rng(0))
    (7, 8, 8)
    """

    replays = True

    def __init__(self, *branches):
        if not branches:
            raise ValueError("Concatenate needs a branch, such as Concatenate(Sequential(), Conv2d(4, 1)); got none")
        self.branches = [branch if isinstance(branch, Sequential) else Sequential(branch) for branch in branches]

    def build(self, shape, rng):
        """The channels of all branches together."""
        shapes = [branch.build(shape, rng) for branch in self.branches]
        if len({s[1:] for s in shapes}) > 1:
            raise ValueError(
                f"Concatenate: the branches give {', '.join(map(str, shapes))} for {tuple(shape)}; they must be equal but for "
                f"the channels: use padding='same' and equal strides in all branches"
            )
        return (sum(s[0] for s in shapes), *shapes[0][1:])

    def forward(self, x, step=None):
        """y, backward"""
        step = step or Pass()
        outputs, backwards = zip(*(branch.forward(x, step) for branch in self.branches))
        ends = np.cumsum([len(y) for y in outputs]).tolist()
        places = [slice(end - len(y), end) for y, end in zip(outputs, ends)]
        y = step.empty((ends[-1], *outputs[0].shape[1:]), outputs[0].dtype)
        for place, part in zip(places, outputs):
            call(assign, y[place], part)

        def backward(dy, into=None):
            dy = checked(dy, y.shape[:-1], self, step, y.dtype)
            for place, branch_backward in zip(places, backwards):
                dx = branch_backward(dy[place]) if into is None else branch_backward(dy[place], into=into)
                into = dx
            return into

        return y, backward

    def __repr__(self):
        return f"Concatenate({', '.join(map(repr, self.branches))})"
