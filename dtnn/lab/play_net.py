"""`PlayNet`: the networks of the playground, small enough to be asked for many weights at once."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..model import Model
from ..nn import Linear, Tanh, binary_cross_entropy, cross_entropy
from .pairs import Pair


@dataclass(frozen=True)
class PlayNet:
    """Layers of some sizes with tanh between them and an output a class; or, with a pair, two weights and one output.

    What is drawn is computed here, in NumPy: for the weights of all replicas, or of a whole plane, at once, and without waiting
    for a kernel to be compiled. What is trained is an ordinary `Model`, which gives the same.

    Parameters
    ----------
    hidden : tuple of int
        Sizes of the layers between.
    pair : Pair, optional
        What the two weights are for; there are no layers between then.

    Examples
    --------
    >>> net = PlayNet(pair=Pair("x", "y", lambda points: points))
    >>> net.model().net.layers
    [Linear(1, bias=False)]
    >>> net.outputs(net.inputs([[1.0, 0.0], [0.0, 2.0]]), [[0.0, 0.0]]).tolist()
    [[0.5, 0.5]]
    """

    hidden: tuple = ()
    pair: Pair | None = None

    @property
    def sizes(self):
        """Of the input, of each layer between, of the output."""
        return (2, 1) if self.pair else (2, *self.hidden, 2)

    def model(self, seed=0):
        """What is trained."""
        if self.pair:
            return Model(Linear(1, bias=False), input_shape=(2,), seed=seed)
        layers = [layer for size in self.hidden for layer in (Linear(size), Tanh())]
        return Model(*layers, Linear(2), input_shape=(2,), seed=seed)

    @property
    def loss(self):
        """What it is trained with; both are the same function of the margin."""
        return binary_cross_entropy if self.pair else cross_entropy

    def inputs(self, points):
        """What the network gets of points (N, 2)."""
        points = np.asarray(points, np.float64)
        return np.ascontiguousarray(self.pair.of(points) if self.pair else points, np.float32)

    def margins(self, inputs, weights):
        """By how much the network is for class 1: log(p / (1 - p)) for each of the weights (K, n), and inputs (N, 2): (K, N)."""
        weights = np.asarray(weights, np.float32)
        flow, at = np.asarray(inputs, np.float32)[None], 0
        for before, after in pairwise(self.sizes):
            flow = np.tanh(flow) if at else flow
            matrix = weights[:, at : at + before * after].reshape(-1, after, before)
            flow, at = flow @ matrix.transpose(0, 2, 1), at + before * after
            if not self.pair:
                flow, at = flow + weights[:, None, at : at + after], at + after
        return flow[..., -1] if self.pair else flow[..., 1] - flow[..., 0]

    def outputs(self, inputs, weights):
        """The probability of class 1, (K, N)."""
        return 1 / (1 + np.exp(-np.clip(self.margins(inputs, weights), -60, 60)))

    def losses(self, inputs, labels, weights):
        """The mean loss over all inputs, for each of the weights: (K,)."""
        margins = self.margins(inputs, weights)
        return (np.logaddexp(0, margins) - np.asarray(labels) * margins).mean(1)
