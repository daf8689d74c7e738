"""`check_step`: whether what all ranks know of a step is finite."""

import math

from .not_finite import NotFinite, check_gradient, first_not_finite


def check_step(replica, count):
    """Raise `NotFinite`, on all ranks, where the loss or a gradient isn't finite; then all is as it was before the step."""
    failed = replica.meetings.failed(replica.step)
    try:
        if failed is not None:
            _fail(replica, failed, count)
        replica.gradient = check_gradient(replica.step, replica.parameters) if replica.exchange.alike else math.nan
    except NotFinite:
        replica.before.restore()
        raise


def _fail(replica, step, count):
    """Say where that step was not finite; where ranks are apart, others have gone on since, or failed in another one."""
    exchange, meetings = replica.exchange, replica.meetings
    apart = meetings.apart and not exchange.alike
    here = meetings.broken == step if apart else True
    inputs = (_again(replica, *taken) for taken in replica.taken if len(taken[0])) if (here if apart else count) else ()
    parameters = None if exchange.alike else replica.parameters
    place = first_not_finite(replica.comm, replica.model.net, inputs, replica.scratch, parameters, here)
    averaged = apart and exchange.goes_back
    if averaged:
        exchange.undo()
    raise NotFinite(exchange.failed or step, place, apart and not averaged, averaged)


def _again(replica, indices, first, total):
    """The input of samples that this rank has taken, as it was then; its pass is begun again."""
    step, count = replica.scratch.number, len(indices)
    x, _ = replica.inputs_of(count).gather(indices, (replica.seed, step))
    replica.scratch.begin(step, first, count, total)
    return x
