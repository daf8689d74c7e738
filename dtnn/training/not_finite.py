"""How a training ends because its numbers left the finite ones."""

import functools
import math
from contextlib import contextmanager

import numpy as np

from ..kernels.updates_adaptive import squares
from ..nn.layer import call_forward
from ..nn.tree import named_layers

REMEDY = (
    "A smaller learning rate is the usual remedy; also look for NaN in the inputs and for a logarithm or division of your own."
)
LATER = f"The weights are those before this step. {REMEDY}"
AVERAGED = f"All ranks have the weights of their last average. {REMEDY}"
FIRST = (  # whoever trains again after a rate that was too large has its weights still
    "No update came before it, so the learning rate is not to blame: where an earlier training left the weights too large, "
    "make the model anew; also look for NaN in the inputs and for a logarithm or division of your own."
)
APART = (
    "Each rank has weights of its own by now, some of a later step: make the model anew, with a smaller learning rate; also look "
    "for NaN in the inputs and for a logarithm or division of your own."
)


class NotFinite(ArithmeticError):
    """The loss or a gradient became NaN or infinite; weights and running statistics are those before the step, on all ranks.

    Where ranks have weights of their own, they go back to what they last had in common, or are left `apart`.

    Parameters
    ----------
    step : int
        The step whose loss or gradient is not finite.
    layer : str
        The first place that is not finite: the output of a layer, the innermost one, the loss, or a parameter's gradient.
    apart : bool
        Ranks have weights of their own, and heard of it some steps later: those of other ranks are of a later step.
    averaged : bool
        Ranks had weights of their own, and all have those of their last average again.

    Examples
    --------
    >>> print(NotFinite(7, "the output of linear_1"))
    step 7 left the finite numbers, first in the output of linear_1. ... A smaller learning rate is the usual remedy; ...
    >>> print(NotFinite(1, "the output of linear_1"))
    step 1 left the finite numbers, first in the output of linear_1. No update came before it, ...
    """

    def __init__(self, step, layer, apart=False, averaged=False):
        super().__init__(step, layer, apart, averaged)
        self.step, self.layer, self.apart, self.averaged = step, layer, apart, averaged

    def __str__(self):
        remedy = FIRST if self.step == 1 else APART if self.apart else AVERAGED if self.averaged else LATER
        return f"step {self.step} left the finite numbers, first in {self.layer}. {remedy}"


def first_not_finite(comm, net, inputs, step, parameters=None, here=True):
    """The first place, over all ranks, where a forward pass is not finite any more, in words; collective.

    It moves running statistics, as every forward does.

    Parameters
    ----------
    comm : Communicator
    net : Sequential
    inputs : iterable of ndarray
        This rank's inputs, one for each micro-batch; none if it has no samples.
    step : Pass
        That of the step in question, so that dropout is the same; getting an input has begun it.
    parameters : Parameters, optional
        Where the outputs are finite, look at the ranks' gradients, too.
    here : bool
        Whether it may have happened on this rank.
    """
    layers = [(name, layer) for name, layer, _ in named_layers(net)]
    place = np.array([np.inf])
    if here:
        place[0] = min((_first_output(net, [layer for _, layer in layers], x, step) for x in inputs), default=np.inf)
    comm.Allreduce(place, "min")
    if math.isfinite(place[0]):
        return f"the output of {layers[int(place[0]) % len(layers)][0]}"
    place[0] = _first_gradient(parameters) if parameters is not None and here else -math.inf
    comm.Allreduce(place, "max")
    return f"the gradient of {parameters.segments[int(place[0])].name}" if math.isfinite(place[0]) else "the loss"


def _first_output(net, layers, x, step):
    """Which layer is the first whose output is not finite, as a number that is less the sooner that was; infinite if none is.

    A layer within another one has done its part before the outer one has, so it is the innermost.
    """
    found, done = [math.inf], 0

    def look(number, y):
        nonlocal done
        if found[0] == math.inf and not np.isfinite(y).all():
            found[0] = done * len(layers) + number
        done += 1

    with looking(layers, look):
        for layer in net.layers:  # one by one: within an outer layer a ReLU may be done in the pass of the one before it
            x = call_forward(layer, x, step)[0]
            if found[0] < math.inf:
                break
    return found[0]


@contextmanager
def looking(layers, look):
    """Within it ``look(number, y)`` is called with each output y of one of the layers, when it has been computed.

    Examples
    --------
    >>> from dtnn.nn import Linear, Residual
    >>> block = Residual(Linear(1))
    >>> _ = block.build((1,), np.random.default_rng(0))
    >>> with looking([block, block.body.layers[0]], lambda number, y: print(number, y.shape)):
    ...     y, backward = block.forward(np.ones((1, 5), np.float32))
    1 (1, 5)
    0 (1, 5)
    """
    replaced = [(layer, "forward" in vars(layer), layer.forward) for layer in layers]
    try:
        for number, (layer, _, forward) in enumerate(replaced):
            layer.forward = _watched(forward, functools.partial(look, number))
        yield
    finally:
        for layer, own, forward in replaced:
            if own:
                layer.forward = forward
            else:
                vars(layer).pop("forward", None)


def _watched(forward, look):
    @functools.wraps(forward)  # what it takes is looked at
    def watched(*arguments, **options):
        result = forward(*arguments, **options)
        look(result[0] if isinstance(result, tuple) else result)
        return result

    return watched


def check_gradient(step, parameters):
    """The 2-norm of a reduced gradient; raise `NotFinite` if it is not finite: the same on all ranks, which have the same bits.

    The square of the norm is one pass at the speed of memory; in float64 it may overflow where no gradient does, so then each is
    looked at.
    """
    square = squares(parameters.grad[: parameters.trainable])
    place = -math.inf if math.isfinite(square) else _first_gradient(parameters)
    if math.isfinite(place):
        raise NotFinite(step, f"the gradient of {parameters.segments[place].name}")
    return math.sqrt(square)


def _first_gradient(parameters):
    """Number of the segment where backward left the finite numbers, the last in the order of forward; -infinite if all are."""
    for place, segment in reversed(list(enumerate(parameters.segments))):
        if segment.trainable and not np.isfinite(parameters.grad[segment.start : segment.start + segment.size]).all():
            return place
    return -math.inf
