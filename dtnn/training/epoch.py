"""`run_epoch`: the steps of an epoch, and what follows them."""

import math
import time

import numpy as np

from ..data import batches
from ..parallel import in_sync
from ..parallel.kept import gathered
from ..records import Epoch, Refused, Share, Step
from .checkpoint import Checkpoint
from .evaluate import evaluate, own_value
from .not_finite import NotFinite
from .obey import obey
from .pause import account, pause, tell_outbox
from .phased import phased


def run_epoch(replica, epoch, epochs, validation):
    """All steps of one epoch, told."""
    started, loss_sum, hear, untold = time.perf_counter(), 0.0, replica.orders.hear, []
    begin_epoch(replica)
    replica.meetings.last = last = replica.step + replica.steps_per_epoch
    replica.exchange.begin_epoch(replica.step + 1, last)
    replica.model.training = None  # within an epoch there is nothing to resume
    for indices in batches(len(replica.data), replica.batch_size, replica.seed, epoch):
        if replica.orders.shown and not replica.exchange.lockstep:
            yield from refuse(replica)
        begin = time.perf_counter()
        replica.step += 1
        progress = replica.progress(epochs)
        lr = replica.optimizer.rate(progress)
        try:
            if replica.phases or replica.orders.by_phase:
                losses, lr, rested = yield from phased(replica, indices, progress, epoch)
                begin, started = begin + rested, started + rested
            else:
                losses = replica.make_step(indices, progress)
        except NotFinite:
            yield from tell_steps(replica, epoch, untold, replica.meetings.losses)
            raise
        seconds = time.perf_counter() - begin
        untold.append((replica.step, len(indices), lr, seconds, time.time(), replica.gradient, replica.noise.value))
        if replica.tracer.on:
            hear((yield replica.tracer.end(replica.step)))
        if replica.watch.due or replica.orders.stop:
            hear((yield account(replica, replica.step)))
        if replica.outbox:
            yield from tell_outbox(replica)
        if losses:
            loss_sum += math.fsum(losses)
            yield from tell_steps(replica, epoch, untold, losses)
            untold.clear()
        started += yield from pause(replica)
        if replica.orders.stop:
            replica.settle()
            return
        if replica.aligning:
            hear((yield replica.arrivals.align()))
        replica.watch.mark = replica.watch.clock()
    if replica.watch.steps:
        hear((yield account(replica, replica.step)))
    values = {"loss": replica.exchange.whole_loss(loss_sum) / len(replica.data), **_reduced_metrics(replica)}
    seconds = time.perf_counter() - started
    _end_epoch(replica, epoch, values, validation)
    if replica.comm.size > 1:
        hear((yield Share(replica.comm.rank, epoch, replica.step, replica.samples, replica.own, time.time())))
    hear((yield Epoch(epoch, replica.step, len(replica.data), seconds, lr, values, time.time())))
    obey(replica)
    yield from tell_outbox(replica)
    if epoch < epochs:
        yield from pause(replica)


def tell_steps(replica, epoch, untold, losses):
    """Steps of which all ranks now know the sum of the losses, up to one where that is not finite."""
    for (step, samples, *rest), loss in zip(untold, losses):
        if not math.isfinite(loss):
            return
        replica.orders.hear((yield Step(step, epoch, loss / samples, samples, *rest)))


def refuse(replica):
    """Say that nobody can show the gradients of all ranks in one step: a strategy of the user's own may not have said before."""
    for layer in replica.orders.shown:
        text = (
            f"{replica.exchange.strategy!r} lets ranks be at different steps; use a strategy whose ranks take each step together"
        )
        replica.orders.hear((yield Refused(layer, text, time.time())))


def begin_epoch(replica):
    """Nothing counted yet; what was changed by hand at weights and layers counts from now on."""
    replica.parameters.take_over()
    replica.net.refresh()
    nothing, none = np.zeros((*replica.model.net.shapes[-1], 0)), replica.data.gather_targets(np.arange(0))
    replica.sums, replica.samples = [metric.sums(nothing, none) for metric in replica.metrics], 0
    replica.own, replica.own_loss = {}, 0.0
    replica.watch.begin()


def _end_epoch(replica, epoch, values, validation):
    """What follows the steps: evaluation, which adds to the values; a look at the replicas; what could be resumed."""
    replica.settle()
    if validation is not None:
        found = evaluate(replica.comm, replica.model, validation, loss=replica.loss, metrics=replica.metrics, own=(own := {}))
        values |= {f"val_{name}": value for name, value in found.items()}
        replica.own |= {f"val_{name}": value for name, value in own.items()}
    in_sync(replica.comm, replica.parameters, replica.parameters.buffers)
    replica.past.append(values)
    told = tuple(replica.past), replica.batch_size, repr(replica.given)
    state = {name: np.copy(value) if np.ndim(value) else value for name, value in replica.exchange.whole_state().items()}
    kept = gathered(replica.comm, replica.exchange.kept())
    replica.model.training = Checkpoint(epoch, replica.step, replica.seed, *told, state, kept, replica.rate)


def _reduced_metrics(replica):
    """The metrics of the epoch from the ranks' sums; those of this rank's own samples are kept."""
    values, replica.own = {}, {"loss": replica.own_loss / replica.samples if replica.samples else math.nan}
    for metric, part in zip(replica.metrics, replica.sums):
        part = np.array(part, np.float64)
        replica.own[metric.name] = own_value(metric, part, replica.samples)
        replica.comm.Allreduce(part)
        values[metric.name] = float(metric.value(part))
    return values
