"""Data-parallel training as a generator: the same on one rank, on ranks as threads, and over MPI."""

import dataclasses
import math
import time

import numpy as np

from ..data import batch_last, batches, global_batch, shares
from ..kernels.aligned import aligned
from ..nn.layer import call_forward
from ..nn.losses import cross_entropy
from ..nn.metrics import accuracy
from ..nn.parameters import named_layers
from ..nn.passes import Pass
from ..optim import SGD, Progress
from ..parallel import AllReduce, broadcast, in_sync
from ..records import Epoch, Finish, Note, Place, Start, Step, Stop
from .evaluate import evaluate
from .ledger import Arrivals, Stopwatch
from .not_finite import NotFinite

LOSS, STOP, ARRIVALS = 0, 1, 2  # places in the tail that rides behind the gradient; one arrival a rank
MOST_ARRIVALS = 48  # ranks; more don't share one host's clock anyway
ELSEWHERE = Stop("stopped on another rank")


def train(
    comm,
    model,
    data,
    *,
    validation=None,
    loss=cross_entropy,
    metrics=(accuracy,),
    optimizer=SGD(0.01, momentum=0.9),
    epochs=1,
    batch_size=32,
    strategy=AllReduce(),
    seed=0,
    settings=None,
):
    """Train `model` on the ranks of `comm`, data-parallel, and tell how it goes.

    Every rank runs this generator. All begin with rank 0's weights; in each step a rank computes the gradient of its
    share of the global batch, the gradients are summed, and every rank makes the same update. So P ranks give
    the weights of one rank, to rounding.

    Parameters
    ----------
    comm : Communicator
        This rank and its peers.
    model : Model
        Anything with a built network ``net`` and its ``parameters``; it is trained in place.
    data, validation : Samples
        What to train on, and what to evaluate after each epoch (None: nothing).
    loss : function
        ``(outputs, targets, weight) -> (sum of losses, gradient)``, see `dtnn.nn.losses`.
    metrics : sequence of metrics
        See `dtnn.nn.metrics`.
    optimizer : Optimizer
        See `dtnn.optim`.
    epochs : int
        Passes over the data.
    batch_size : int
        Samples a step **over all ranks**; at least one a rank.
    strategy : AllReduce
        How the replicas are kept together, see `dtnn.parallel`.
    seed : int
        Of the order of the samples and of dropout; rank 0's is used.
    settings : dict
        Plain values that the `Start` record should also say.

    Yields
    ------
    Place, Start, Note, Step, Ledger, Epoch, Finish
        See `dtnn.records`. A `Stop` sent into the generator ends the training of all ranks after the same step; so does
        leaving the loop at a record that all ranks get.

    Returns
    -------
    dict or None
        On rank 0 the trained parameters and buffers by name.

    Raises
    ------
    NotFinite
        On all ranks at the same step, when the loss is no finite number any more.

    Examples
    --------
    >>> import dtnn
    >>> model, digits = dtnn.zoo.mlp(), dtnn.data.mnist5k()
    >>> records = list(train(dtnn.comm.Serial(), model, digits.train, batch_size=1000))
    >>> len([record.loss for record in records if isinstance(record, Step)])
    4
    """
    batch_size = global_batch(len(data), comm.size, batch_size)
    from ..machine import describe  # here, since it imports Numba's and BLAS's settings

    yield Place(comm.rank, describe())
    yield Start(time.time(), comm.size, dict(settings or {}))
    seed = int(_from_rank_0(comm, seed))
    broadcast(comm, model.parameters)
    replica = Replica(comm, model, data, loss, metrics, optimizer, batch_size, strategy, seed)
    yield from replica.prepare()
    asked = None
    for epoch in range(1, epochs + 1):
        asked = yield from replica.run_epoch(epoch, epochs, validation, asked)
        if asked:
            break
    yield Finish("stopped" if asked else "done", time.time(), getattr(asked, "text", ""))
    return model.parameters.state() if comm.rank == 0 else None


class Replica:
    """One rank's copy of the model, and what it needs to take part in the steps."""

    def __init__(self, comm, model, data, loss, metrics, optimizer, batch_size, strategy, seed):
        self.comm, self.model, self.data, self.loss, self.metrics = comm, model, data, loss, metrics
        self.optimizer, self.batch_size, self.strategy, self.seed = optimizer, batch_size, strategy, seed
        self.parameters = model.parameters
        self.parameters.grad[:] = 0  # an interrupted step may have left something
        self.state = optimizer.state(self.parameters)
        told = comm.size if comm.size <= MOST_ARRIVALS else 0
        self.tail = self.parameters.tail(ARRIVALS + told)
        self.arrivals = Arrivals(comm, self.tail[ARRIVALS:])
        self.scratch = Pass(seed)
        self.inputs = {}
        self.watch = Stopwatch(comm.rank)
        self.step, self.stop_votes = 0, 0
        self.sums, self.past, self.samples = [0.0] * len(metrics), [], 0
        self.steps_per_epoch = math.ceil(len(data) / batch_size)

    # ---- before the first step

    def prepare(self):
        """Compile what the steps will need (both batch sizes), so that no step's time contains it; nothing is trained."""
        sizes = {self.batch_size, len(self.data) % self.batch_size or self.batch_size}
        counts = sorted({shares(size, self.comm.size)[self.comm.rank][1] for size in sizes} - {0}, reverse=True)
        kept = {name: buffer.copy() for name, buffer in self.parameters.buffers.items()}
        for count in counts:
            yield self._note(f"preparing steps of {count} samples (compiles kernels the first time on a machine)")
            self._gradients(np.arange(count), 0, count, count)
        self.parameters.grad[:] = 0
        for name, buffer in self.parameters.buffers.items():
            buffer[...] = kept[name]
        yield self._note("preparing the update")
        # a rate of 0 and gradients of 0 leave all weights as they are
        still = dataclasses.replace(self.optimizer, lr=0.0)
        still.update(self.parameters, self.optimizer.state(self.parameters), Progress(step=1, epoch=0.0))
        yield self._note("waiting for all ranks to be prepared")
        self.comm.Barrier()

    def _note(self, text):
        return Note(self.comm.rank, time.time(), text)

    # ---- steps

    def run_epoch(self, epoch, epochs, validation, asked):
        """All steps of one epoch; returns the `Stop` that ended it, or None."""
        started, loss_sum = time.perf_counter(), 0.0
        self.sums, self.samples = [0.0] * len(self.metrics), 0
        self.watch.begin()
        for indices in batches(len(self.data), self.batch_size, self.seed, epoch):
            begin = time.perf_counter()
            self.step += 1
            progress = self._progress(epochs)
            mean_loss = self._step(indices, progress, asked)
            loss_sum += mean_loss * len(indices)
            stopping = self.stop_votes > 0
            if self.watch.due or stopping:
                asked = (yield self.watch.record(self.step)) or asked
            lr, seconds = self.optimizer.rate(progress), time.perf_counter() - begin
            asked = (yield Step(self.step, epoch, mean_loss, len(indices), lr, seconds, time.time())) or asked
            if stopping:
                return asked or ELSEWHERE
            self.watch.mark = time.perf_counter()
        if self.watch.steps:
            asked = (yield self.watch.record(self.step)) or asked
        values = {"loss": loss_sum / len(self.data), **self._reduced_metrics()}
        seconds = time.perf_counter() - started
        self._average_buffers()
        if validation is not None:
            found = evaluate(self.comm, self.model, validation, loss=self.loss, metrics=self.metrics)
            values |= {f"val_{name}": value for name, value in found.items()}
        in_sync(self.comm, self.parameters)
        self.past.append(values)
        asked = (yield Epoch(epoch, self.step, len(self.data), seconds, lr, values, time.time())) or asked
        return self._agreed(asked)

    def _step(self, indices, progress, asked):
        """One step: gradient of this rank's share, sum over ranks, update. Returns the mean loss over the global batch."""
        first, count = shares(len(indices), self.comm.size)[self.comm.rank]
        watch, tail = self.watch, self.tail
        tail[:] = 0
        tail[STOP] = asked is not None
        if count:
            tail[LOSS] = self._gradients(indices[first : first + count], first, count, len(indices))
        self.arrivals.tell(watch.lap("backward"))
        handed = self.strategy.reduce(self.comm, self.parameters, tail.size)
        watch.reduced(self.arrivals.waited())
        self.stop_votes = tail[STOP]
        loss_sum = float(tail[LOSS])
        if not math.isfinite(loss_sum):
            raise NotFinite(self.step, self._first_not_finite(len(indices), count))
        self.optimizer.update(self.parameters, self.state, progress)
        watch.lap("update")
        watch.step(count, handed)
        self.samples += count
        return loss_sum / len(indices)

    def _gradients(self, indices, first, count, total):
        """Forward and backward of `count` samples, the `first`.. of a global batch of `total`; adds to the gradients."""
        dtype, key = self.parameters.value.dtype, (self.seed, self.step)
        x, targets = self.data.gather(indices, self._input(count), dtype, key)
        self.watch.lap("data")
        self.scratch.begin(self.step, first, count, total, x=x, sum_over_ranks=self.comm.Allreduce)
        outputs, backward = self.model.net.forward(x, self.scratch)
        self.sums = [old + metric.sums(outputs, targets) for old, metric in zip(self.sums, self.metrics)]
        loss_sum, delta = self.loss(outputs, targets, total)
        self.watch.lap("forward")
        backward(delta)
        return loss_sum

    def _input(self, count):
        if count not in self.inputs:
            dtype = np.int32 if self.data.tokens else self.parameters.value.dtype
            self.inputs[count] = aligned(batch_last(self.data.input_shape, count), dtype)
        return self.inputs[count]

    def _progress(self, epochs):
        past = tuple(self.past)
        done = (self.step - 1) / self.steps_per_epoch
        return Progress(self.step, done, self.steps_per_epoch, epochs, metrics=past[-1] if past else {}, past=past)

    # ---- what all ranks must agree on

    def _reduced_metrics(self):
        """The metrics of the epoch from the ranks' sums."""
        values = {}
        for metric, part in zip(self.metrics, self.sums):
            part = np.array(part, np.float64)
            self.comm.Allreduce(part)
            values[metric.name] = float(metric.value(part))
        return values

    def _average_buffers(self):
        """Running statistics become those of all ranks, weighted by the samples each has seen in this epoch."""
        if self.comm.size > 1 and self.parameters.buffers:
            total = self.comm.Allreduce(float(self.samples))
            for name in sorted(self.parameters.buffers):
                buffer = self.parameters.buffers[name]
                buffer *= self.samples / total
                self.comm.Allreduce(buffer)

    def _agreed(self, asked):
        """The `Stop` that any rank was given between two steps, on all ranks."""
        vote = np.array([float(asked is not None)])
        self.comm.Allreduce(vote, "max")
        return asked or (ELSEWHERE if vote[0] else None)

    def _first_not_finite(self, total, count):
        """Name of the first layer, over all ranks, whose output is not finite for the batch of this step."""
        layers, place = self.model.net.layers, np.array([np.inf])
        names = {id(layer): name for name, layer, _ in named_layers(self.model.net)}
        if count:
            x = self._input(count)
            self.scratch.begin(self.step, self.scratch.first, count, total)  # as in this step: the same dropout
            for k, layer in enumerate(layers):
                x = call_forward(layer, x, self.scratch)[0]
                if not np.isfinite(x).all():
                    place[0] = k
                    break
        self.comm.Allreduce(place, "min")
        return f"the output of {names[id(layers[int(place[0])])]}" if math.isfinite(place[0]) else "the loss"


def _from_rank_0(comm, number):
    values = np.array([float(number)])
    comm.Bcast(values)
    return values[0]
