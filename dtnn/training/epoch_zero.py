"""Epoch 0: what a training begins with."""

import time

from ..optim import Progress
from ..records import Epoch, Note
from .evaluate import evaluate
from .obey import obey
from .pause import pause


def epoch_zero(replica, done, epochs, validation):
    """Evaluate before the first step, and tell it as an `Epoch` with the number of epochs done, which is 0 for a new training.

    An epoch's own loss is the mean over its steps, each before its update, so it lags the weights, and is told for the first
    time when they have changed a whole epoch long. This one is of the weights as they are.

    Parameters
    ----------
    replica : Replica
    done, epochs : int
        Epochs that are behind, and that there will be.
    validation : Samples or None
        Evaluated besides the training samples, of which none is augmented.

    Yields
    ------
    Note, Epoch
    """
    comm, model, step = replica.comm, replica.model, replica.step
    replica.orders.hear((yield Note(comm.rank, time.time(), "evaluating before the first step")))
    values = evaluate(comm, model, replica.data, loss=replica.loss, metrics=replica.metrics)
    if validation is not None:
        found = evaluate(comm, model, validation, loss=replica.loss, metrics=replica.metrics)
        values |= {f"val_{name}": value for name, value in found.items()}
    past = tuple(replica.past)
    begin = Progress(step + 1, done, replica.steps_per_epoch, epochs, metrics=past[-1] if past else {}, past=past)
    lr = replica.optimizer.rate(begin)
    replica.orders.hear((yield Epoch(done, step, 0, 0.0, lr, values, time.time())))
    obey(replica)
    yield from pause(replica)
