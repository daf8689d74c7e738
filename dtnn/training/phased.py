"""`phased`: a step that is told phase by phase, and may be halted after each of them."""

import math
import time

import numpy as np

from ..data import shares
from ..kernels.updates_adaptive import squares
from ..records import Phase
from .obey import obey
from .pause import pause

NAMES = ("forward", "backward", "reduce", "update")


def phased(replica, indices, progress, epoch):
    """What `Replica.make_step` does, to the same bits, with a `Phase` after each part of it; collective.

    Nothing overlaps: what would travel behind backward goes out after it. After each phase the ranks exchange some numbers, so
    none is ahead of the others; the time for that, and that of a pause, is no phase's. A learning rate that is heard before the
    update is used in it.

    Parameters
    ----------
    replica : Replica
    indices : ndarray of int
        The global batch.
    progress : Progress
    epoch : int

    Yields
    ------
    Phase, Paused, Resumed, Ledger, Note, Gradients, GradientValues, Weights

    Returns
    -------
    (list of float, float, float)
        The losses that became known, see `Replica.make_step`; the learning rate of the update; the seconds of pauses within it.
    """
    parts, orders, total = Parts(replica, epoch), replica.orders, len(indices)
    first, count = replica.share(total)
    replica.begin_step(progress)
    for piece, (start, size) in enumerate(shares(count, parts.pieces), 1):
        place, back, delta = first + start, _nothing, None
        if size or replica.always:
            loss, back, delta = parts.forward(indices[place : place + size], place, total)
        yield from parts.end("forward", loss / size if size else np.nan, piece)
        back(delta)
        replica.watch.lap("backward")
        yield from parts.end("backward", norm(parts.trained) if count else np.nan, piece)
    replica.looking = replica.microscope.looks_at(replica.step, orders.shown)  # somebody may have asked while they waited
    shown = len(orders.shown)
    handed_and_own = replica.reduce(count, total, progress)
    yield from parts.end("reduce", norm(parts.held))
    late, lr, before = orders.shown[shown:], replica.optimizer.rate(progress), parts.values.copy()
    replica.update(count, progress, *handed_and_own)
    for layer in late:  # of this step they can't be shown any more
        orders.show(layer)
    yield from parts.end("update", norm(parts.values - before))
    return replica.meetings.losses, lr, parts.paused


class Parts:
    """The ends of a step's phases.

    Attributes
    ----------
    paused : float
        Seconds of pauses so far.
    """

    def __init__(self, replica, epoch):
        self.replica, self.epoch, self.paused = replica, epoch, 0.0
        self.pieces, self.began = replica.exchange.pieces, replica.watch.mark

    @property
    def values(self):
        """The trainable weights, flat."""
        parameters = self.replica.parameters
        return parameters.value[: parameters.trainable]

    @property
    def trained(self):
        """Their gradients."""
        parameters = self.replica.parameters
        return parameters.grad[: parameters.trainable]

    @property
    def held(self):
        """Those that this rank updates with."""
        return self.trained if self.replica.exchange.own is None else self.trained[self.replica.exchange.own]

    def forward(self, indices, first, total):
        """See `Replica.forward`."""
        tracer = self.replica.tracer
        loss, back, delta = self.replica.forward(indices, first, total, tracer.comm.Allreduce, tracer.watcher(None))
        self.replica.tail[0] += loss
        return loss, back, delta

    def end(self, name, value, piece=0):
        """A phase has ended on this rank: tell what all have made of it, and wait if that is asked for; collective."""
        replica, orders = self.replica, self.replica.orders
        seconds, values = self._exchanged(replica.watch.mark - self.began, value)
        told = replica.step, self.epoch, name, piece or self.pieces, self.pieces, seconds, values, time.time()
        orders.hear((yield Phase(*told)))
        orders.made_a_phase()
        if name != NAMES[-1] and orders.pauses:
            replica.tracer.drop()
            replica.scratch.watcher = None
            self.paused += yield from pause(replica, name)
        replica.watch.skip()
        self.began = replica.watch.mark

    def _exchanged(self, seconds, value):
        """The seconds and the values of all ranks; what one of them has heard meanwhile is known to all then."""
        comm, orders = self.replica.comm, self.replica.orders
        told = np.zeros((2, comm.size + 1))
        told[:, comm.rank], told[0, -1] = (seconds, value), bool(orders.told)
        comm.Allreduce(told.reshape(-1))
        if told[0, -1] > 0:
            obey(self.replica)
        return told[:, :-1].tolist()


def norm(vector):
    """The 2-norm, also of numbers whose squares float32 can't hold.

    >>> norm(np.array([3.0, 4.0], np.float32)), f"{norm(np.array([3e-30, 4e-30], np.float32)):.0e}"
    (5.0, '5e-30')
    """
    return math.sqrt(squares(np.ascontiguousarray(vector)))


def _nothing(_):
    """Backward of no samples."""
