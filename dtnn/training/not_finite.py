"""How a training ends because its numbers left the finite ones."""

import math

import numpy as np

from ..nn.layer import call_forward
from ..nn.parameters import named_layers


class NotFinite(ArithmeticError):
    """The loss became NaN or infinite; the weights are those of the step before.

    Parameters
    ----------
    step : int
        The step whose loss is not finite.
    layer : str
        The first layer whose output is not finite, or "the loss" where all outputs are.
    """

    def __init__(self, step, layer):
        super().__init__(step, layer)
        self.step, self.layer = step, layer

    def __str__(self):
        return (
            f"the loss of step {self.step} is not finite, and the first place that is not is {self.layer}. "
            "The weights are those before this step. A smaller learning rate is the usual remedy; "
            "also look for NaN in the inputs and for a logarithm or division of your own."
        )


def first_not_finite(comm, net, x, step):
    """The first place, over all ranks, where a forward pass is not finite any more, in words; collective.

    Parameters
    ----------
    comm : Communicator
    net : Sequential
    x : ndarray or None
        This rank's input; None if it has no samples.
    step : Pass
        That of the step in question, so that dropout is the same.
    """
    place = np.array([np.inf])
    names = {id(layer): name for name, layer, _ in named_layers(net)}
    if x is not None:
        step.begin(step.number, step.first, step.count, step.global_batch)
        for k, layer in enumerate(net.layers):
            x = call_forward(layer, x, step)[0]
            if not np.isfinite(x).all():
                place[0] = k
                break
    comm.Allreduce(place, "min")
    return f"the output of {names[id(net.layers[int(place[0])])]}" if math.isfinite(place[0]) else "the loss"
