"""One rank's copy of a model, and what it does in a step."""

import math
import time

from ..commands import Rate
from ..data import shares
from ..nn.passes import Pass
from ..nn.replay import Replay
from ..nn.tree import named_layers
from ..optim import Progress
from ..parallel import in_sync
from ..parallel.kept import given_back
from .arrivals import Arrivals
from .before_step import BeforeStep
from .check_step import check_step
from .inputs import Inputs
from .ledger import Stopwatch
from .meetings import Meetings
from .microscope import Microscope
from .noise import Noise
from .obey import obey, take_rate
from .orders import Orders
from .tracer import Tracer

LOSS, ORDERS, LOOK, LOCAL, ARRIVALS = range(5)  # places in the tail that rides behind the gradient; one arrival a rank
TRACE, ALIGN = 1, 2  # what rank 0 may ask all to do, added up at LOOK: trace the next step, look at clocks after this one
EARLY, EVERY = (1, 10), 100  # steps after which the replicas are compared, besides at the end of an epoch
MOST_ARRIVALS = 48  # ranks; more don't share one host's clock anyway


class Replica:
    """One rank's copy of the model, and what it needs to take part in the steps; parameters are those of `train`."""

    def __init__(self, comm, model, data, loss, metrics, optimizer, batch_size, strategy, seed, trace=True, keep=0, phases=False):
        self.comm, self.model, self.data, self.loss, self.metrics = comm, model, data, loss, metrics
        self.given = self.optimizer = optimizer  # as the user gave it, and at the rate of the moment
        self.batch_size, self.seed, self.orders, self.rate = batch_size, seed, Orders(comm), Rate()
        self.parameters = model.parameters
        if model.rehearsal:  # that of a training which was interrupted may still be at work on this model
            model.rehearsal.wait()
        self.parameters.clear_gradients()  # an interrupted step may have left something, or leave it yet
        clock = getattr(comm, "clock", time.perf_counter)
        self.watch = Stopwatch(comm.rank, stretch=getattr(comm, "stretch", None), clock=clock)
        self.tracer = Tracer(comm, model.net, self.watch, trace)
        self.exchange = strategy.begin(self.tracer.comm, self.parameters, optimizer)
        if phases and not self.exchange.lockstep:
            raise ValueError(f"phases=True, but {strategy!r} lets ranks be at different steps: there is no phase that all are in")
        self.given_to_exchange = self.exchange.optimizer  # which may want it otherwise
        self.meetings, arrivals = Meetings(self.exchange, comm.size), comm.size if comm.size <= MOST_ARRIVALS else 0
        self.tail = self.parameters.tail(ARRIVALS + arrivals + self.meetings.places)
        self.since = self.tail[ARRIVALS + arrivals :]  # the losses of quiet steps
        self.arrivals, self.aligning = Arrivals(comm, self.tail[ARRIVALS : ARRIVALS + arrivals], clock), False
        self.net, self.scratch, self.inputs, self.pieces = Replay(model.net), Pass(seed), {}, {}
        self.microscope, self.looking, self.outbox = Microscope(comm, self.parameters, self.exchange, keep), False, []
        self.step, self.updated, self.past, self.phases = 0, 0, [], phases
        self.gradient, self.noise = math.nan, Noise(self.exchange)  # the norm of the last step's, see `Step`
        self.before, self.taken = BeforeStep(model), []  # this step's samples, (indices, first, total) at a time
        self.steps_per_epoch = math.ceil(len(data) / batch_size)
        # normalisation over all ranks reduces inside a step, so a rank without samples must go along
        synced = {name: layer for name, layer, _ in named_layers(model.net) if getattr(layer, "sync", False)}
        self.always = bool(synced)
        self.common = [f"{name}.{buffer}" for name, layer in synced.items() for buffer in layer.buffers]  # equal at any time
        if synced and not self.exchange.lockstep:
            raise ValueError(
                f"{strategy!r} lets ranks be at different steps, but {min(synced)} (sync=True) sums over all within a step: "
                "build it with sync=False, or use a strategy whose ranks take each step together"
            )

    def resume(self, checkpoint):
        """Go on after a checkpoint; returns the number of epochs done, and what the user should know; collective."""
        state = self.optimizer.state(self.parameters)
        checkpoint.restore(self.optimizer, state, self.batch_size)
        self.exchange.take(state)
        self.step, self.past = checkpoint.step, list(checkpoint.past)
        self.updated = self.step
        if checkpoint.optimizer == repr(self.given):  # else the new settings count
            self.orders.rate = checkpoint.rate
            take_rate(self)
        return checkpoint.epoch, given_back(self.comm, checkpoint.kept, self.exchange.kept())

    # ---- a step

    def make_step(self, indices, progress):
        """Gradient of this share, exchange, update, and what the ranks were told; returns the losses that became known.

        These are the sums over global batches, that of this step last; none, if it is a quiet one (see `Meetings`).
        """
        total, exchange, tracer = len(indices), self.exchange, self.tracer
        self.begin_step(progress)
        count, pieces = self._pieces(total)
        pieces = () if exchange.frozen else pieces
        for number, (begin, size) in enumerate(pieces, 1):
            watcher = tracer.watcher(exchange.watcher() if number == len(pieces) and not self.looking else None)
            self.gradients(indices[begin : begin + size], begin, total, tracer.comm.Allreduce, watcher)
        self.update(count, progress, *self.reduce(count, total, progress))
        return self.meetings.losses

    def begin_step(self, progress):
        """Nothing summed yet; what ranks were told, and what is to be looked at."""
        tail, orders, meetings = self.tail, self.orders, self.meetings
        self.looking = self.microscope.looks_at(self.step, orders.shown)
        prompt, soon = self.looking or self.phases or orders.by_phase, self.always or orders.left < math.inf
        meetings.begin(progress, prompt, soon)
        tail[:] = 0
        if not meetings.quiet:
            tail[ORDERS], tail[LOOK] = bool(orders.told), self._look()
        if meetings.kept:
            self.since[: len(meetings.kept)] = meetings.kept
        self.tracer.begin(meetings.quiet)
        self.noise.begin(self.step)
        self.gradient = math.nan  # in a quiet step it stays so
        if not (self.exchange.frozen or (self._goes_back() and not self.exchange.equal)):
            self.before.keep()
        if not self.exchange.frozen:
            self.taken.clear()

    def reduce(self, count, total, progress):
        """What all ranks have computed becomes what each updates with.

        Returns the bytes that this rank handed over, and the sum of its own losses.
        """
        watch, tail, exchange, meetings = self.watch, self.tail, self.exchange, self.meetings
        if self.looking:
            watch.lap("backward")
            tail[LOCAL] = self.microscope.keep(count, total)
            watch.mark = watch.clock()
        else:
            tail[LOCAL] = self.noise.own(count, total)
        self.arrivals.tell(watch.lap("backward"))
        own_loss = float(tail[LOSS])
        handed = exchange.combine(tail.size, count, total, progress)
        meetings.combined(self.step, float(tail[LOSS]))
        if meetings.quiet or exchange.late:
            watch.lap("update")
            self.tracer.next, self.aligning = self.tracer.due(self.step), False
            return handed, own_loss
        waited = self.arrivals.waited() if exchange.waited is None else exchange.waited
        watch.reduced(waited, exchange.packed, exchange.begun, exchange.hidden)
        self._meet(count)
        if self.looking or self.noise.on:
            self._look_closely(total)
        return handed, own_loss

    def _meet(self, count):
        """The tail has been summed: what all ranks know now."""
        tail = self.tail
        self.meetings.met(self.since, float(tail[LOSS]))
        check_step(self, count)
        self.tracer.next, self.aligning = tail[LOOK] % ALIGN == TRACE, tail[LOOK] >= ALIGN

    def update(self, count, progress, handed, own_loss):
        """The weights change, and what the ranks were told is done."""
        watch, exchange, quiet = self.watch, self.exchange, self.meetings.quiet
        if not exchange.frozen:
            exchange.update(progress)
        now = watch.lap("update")
        handed += self._mix(count, progress, now) if self.meetings.apart else exchange.mix(progress)
        if exchange.equal and (self.step in EARLY or self.step % EVERY == 0):
            in_sync(self.comm, self.parameters, self.common)
        watch.lap("transfer" if handed or not quiet else "update")
        watch.step(count, handed, own_loss)
        self.updated = self.step
        self.samples += count
        self.own_loss += own_loss
        self.model.steps += 1
        self.orders.made_a_step()
        if not quiet and self.tail[ORDERS] > 0:
            obey(self)

    def _mix(self, count, progress, now):
        """Weights are exchanged, and it may be that the tail rides with them; returns the bytes that this rank handed over."""
        exchange, arrivals = self.exchange, self.arrivals
        if exchange.late:
            arrivals.tell(now)
        exchange.moment = arrivals.moment(now)
        handed = exchange.mix(progress)
        if handed:
            self.watch.reduced(arrivals.waited() if exchange.late else exchange.stood)
        if exchange.late:
            self._meet(count)
        return handed

    def _look_closely(self, total):
        """What there is to tell of all ranks' gradients in this step; the microscope's time belongs to no phase."""
        servers, local = self.exchange.servers, float(self.tail[LOCAL])
        samples = [0] * servers + [count for _, count in shares(total, self.comm.size - servers)]
        self.noise.tell(samples, local, self.gradient)
        if self.looking:
            self.outbox += self.microscope.compare(self.step, samples, local)
            self.watch.mark = self.watch.clock()

    def _look(self):
        """What rank 0 asks all ranks to look at."""
        if self.comm.rank:
            return 0
        now = self.watch.mark
        return TRACE * self.tracer.wants(self.step, now) + ALIGN * self.arrivals.due(now)

    def share(self, total, rank=None):
        """(first, count) of the samples of a rank, this one, in a global batch of so many; a server has none."""
        place = (self.comm.rank if rank is None else rank) - self.exchange.servers
        return shares(total, self.comm.size - self.exchange.servers)[place] if place >= 0 else (0, 0)

    def _pieces(self, total):
        """How many samples of a global batch are this rank's, and where, (first, size), those lie that it takes at once."""
        if total not in self.pieces:
            first, count = self.share(total)
            divided = shares(count, self.exchange.pieces)
            self.pieces[total] = count, [(first + start, size) for start, size in divided if size or self.always]
        return self.pieces[total]

    def _goes_back(self):
        """Whether a failure takes back more than its own step: all since replicas were equal."""
        return self.meetings.apart and self.exchange.goes_back

    def gradients(self, indices, first, total, reduce, watcher=None):
        """Forward and backward of some samples, see `forward`; adds to the gradients, and to the loss in the tail."""
        loss_sum, backward, delta = self.forward(indices, first, total, reduce, watcher)
        self.tail[LOSS] += loss_sum
        backward(delta)
        self.watch.lap("backward")

    def forward(self, indices, first, total, reduce, watcher=None):
        """Forward of samples that are the `first`.. of a global batch of `total`.

        Returns the sum of their losses, what goes back and adds to the gradients, and what to give it.
        """
        count = len(indices)
        x, targets = self.inputs_of(count).gather(indices, (self.seed, self.step))
        self.watch.lap("data")
        self.taken.append((indices, first, total))
        self.scratch.begin(self.step, first, count, total, x=x, sum_over_ranks=reduce, watcher=watcher)
        outputs, backward = self.net.forward(x, self.scratch)
        self.sums = [old + metric.sums(outputs, targets) for old, metric in zip(self.sums, self.metrics)]
        loss_sum, delta = self.loss(outputs, targets, total)
        self.watch.lap("forward")
        return loss_sum, backward, delta

    def inputs_of(self, count):
        """Where mini-batches of so many samples are fetched."""
        if count not in self.inputs:
            self.inputs[count] = Inputs(self.data, count, self.parameters.value.dtype)
        return self.inputs[count]

    def progress(self, epochs):
        past, done = tuple(self.past), (self.step - 1) / self.steps_per_epoch
        return Progress(self.step, done, self.steps_per_epoch, epochs, metrics=past[-1] if past else {}, past=past)

    def settle(self):
        """The replicas become one; a rank's own running statistics are weighted by the samples it has seen in this epoch."""
        self.exchange.settle()
        own = sorted(self.parameters.buffers.keys() - set(self.common))
        if self.comm.size > 1 and own:
            total = self.comm.Allreduce(float(self.samples))
            for name in own:
                buffer = self.parameters.buffers[name]
                buffer *= self.samples / total
                self.comm.Allreduce(buffer)
