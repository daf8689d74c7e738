"""How a training ends because its numbers left the finite ones."""

import math

import numpy as np

from ..kernels.updates_adaptive import squares
from ..nn.layer import call_forward
from ..nn.parameters import named_layers

LATER = (
    "The weights are those before this step. A smaller learning rate is the usual remedy; "
    "also look for NaN in the inputs and for a logarithm or division of your own."
)
FIRST = (  # whoever trains again after a rate that was too large has its weights still
    "No update came before it, so the learning rate is not to blame: where an earlier training left the weights too large, "
    "make the model anew; also look for NaN in the inputs and for a logarithm or division of your own."
)


class NotFinite(ArithmeticError):
    """The loss or a gradient became NaN or infinite; the weights are those of the step before.

    Parameters
    ----------
    step : int
        The step whose loss or gradient is not finite.
    layer : str
        The first place that is not finite: a layer's output, the loss, or a parameter's gradient.

    Examples
    --------
    >>> print(NotFinite(7, "the output of linear_1"))
    step 7 left the finite numbers, first in the output of linear_1. ... A smaller learning rate is the usual remedy; ...
    >>> print(NotFinite(1, "the output of linear_1"))
    step 1 left the finite numbers, first in the output of linear_1. No update came before it, ...
    """

    def __init__(self, step, layer):
        super().__init__(step, layer)
        self.step, self.layer = step, layer

    def __str__(self):
        return f"step {self.step} left the finite numbers, first in {self.layer}. {FIRST if self.step == 1 else LATER}"


def first_not_finite(comm, net, x, step, parameters=None):
    """The first place, over all ranks, where a forward pass is not finite any more, in words; collective.

    Parameters
    ----------
    comm : Communicator
    net : Sequential
    x : ndarray or None
        This rank's input; None if it has no samples.
    step : Pass
        That of the step in question, so that dropout is the same.
    parameters : Parameters, optional
        Where the outputs are finite, look at the ranks' gradients, too.
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
    if math.isfinite(place[0]):
        return f"the output of {names[id(net.layers[int(place[0])])]}"
    place[0] = np.inf if parameters is None else _first_gradient(parameters)
    comm.Allreduce(place, "min")
    return f"the gradient of {parameters.segments[int(place[0])].name}" if math.isfinite(place[0]) else "the loss"


def check_gradient(step, parameters):
    """The 2-norm of a reduced gradient; raise `NotFinite` if it is not finite: the same on all ranks, which have the same bits.

    The square of the norm is one pass at the speed of memory; in float64 it may overflow where no gradient does, so then each is
    looked at.
    """
    square = squares(parameters.grad[: parameters.trainable])
    place = math.inf if math.isfinite(square) else _first_gradient(parameters)
    if math.isfinite(place):
        raise NotFinite(step, f"the gradient of {parameters.segments[place].name}")
    return math.sqrt(square)


def _first_gradient(parameters):
    """Number of the first segment whose gradient is not finite; infinite if all are."""
    for place, segment in enumerate(parameters.segments):
        if segment.trainable and not np.isfinite(parameters.grad[segment.start : segment.start + segment.size]).all():
            return place
    return math.inf
