"""The two sides of an asynchronous `ParameterServer`: within an epoch nobody waits for anybody, or only for who is far behind."""

import dataclasses
import time
from collections import defaultdict

import numpy as np

from .server_sides import ServerSide, WorkerSide
from .strategy import mark_not_finite

LOSS, NEWS, SAMPLES = range(3)  # in the tail; what else rides there is for ranks that take their steps together
MEETS, UNTIL, FAILED, SINCE, HELD = range(-5, 0)  # behind an answer's weights: two facts, each with its steps from now; seconds


class AsyncServer(ServerSide):
    """Serves whoever comes: takes a gradient, updates at once, and gives the newest weights.

    Its own n-th step ends when all workers have sent the gradient of their n-th, so that it can tell the loss of the whole
    batch; meanwhile it serves those that are ahead, but for one that is too far ahead, which gets no answer until the slowest has
    come. At a meeting, the last step of an epoch or one that is agreed on, answers are held back until all have come: so all
    leave it at the same step with the same weights, and can do something together.
    """

    lockstep = False

    def __init__(self, *parts):
        super().__init__(*parts)
        self.answer = np.empty(self.parameters.trainable - MEETS, self.parameters.value.dtype)

    def begin_epoch(self, first, last):
        self.sent = dict.fromkeys(range(1, self.comm.size), first - 1)  # the last step of each worker
        self.last = self.meeting = last
        self.losses, self.counts, self.failed = defaultdict(float), defaultdict(int), None
        self.held = {}  # whoever waits for an answer, and since when

    def combine(self, tail, count, total, progress):
        before, own, self.waited = self.comm.bytes, self.parameters.tail(tail), 0.0
        self._hear(own[NEWS])
        while self.failed is None and self.counts[progress.step] < self.comm.size - 1:
            self._serve(tail, progress)
        own[:] = 0
        own[LOSS] = _finite(self.losses.pop(progress.step), own) if self.failed is None else np.nan
        if progress.step == self.meeting:
            own[NEWS] = self.agreed
            self.meeting, self.agreed = self.last, False
        return self.comm.bytes - before

    agreed = False  # whether the meeting is for something that a rank has to say

    def _hear(self, news):
        """A rank has something to say to all: they meet after a step that nobody has come to, so that all know in time."""
        if news > 0 and not self.agreed:
            self.meeting, self.agreed = min(self.last, max(self.sent.values()) + 1), True

    def _serve(self, tail, progress):
        """One gradient: receive, update, answer."""
        worker, region = self._receive(tail)
        step, told = self.sent[worker], region[region.size - tail :]
        mark_not_finite(self.trained[1], told)
        if not np.isfinite(told[LOSS]):
            self._fail(worker, tail)
            return
        self._hear(told[NEWS])
        self.losses[step] += float(told[LOSS])
        self.counts[step] += 1
        if told[SAMPLES] > 0:  # momentum must not move on the gradient of no samples
            epoch = progress.epoch + (step - progress.step) / progress.steps_per_epoch
            self.optimizer.update(self.parameters, self.state, dataclasses.replace(progress, step=step, epoch=epoch))
        self.held[worker] = time.perf_counter()
        self._answer([worker for worker in self.held if self._may_go_on(worker)])

    def _may_go_on(self, worker):
        """Whether a worker is not at a meeting to which others have yet to come, nor too far ahead of them."""
        step, slowest, bound = self.sent[worker], min(self.sent.values()), self.strategy.staleness
        return (step < self.meeting or slowest == step) and (bound is None or step - slowest <= bound)

    def _receive(self, tail):
        """Whose gradient comes next, and what came: the gradient and what rides behind it."""
        began, region = time.perf_counter(), self.parameters.reduced(tail)
        worker = self.comm.Probe()
        self.waited += time.perf_counter() - began
        self.comm.Recv(region, worker)
        self.sent[worker] += 1
        return worker, region

    def _fail(self, worker, tail):
        """A gradient is not finite: no further update; whoever waits, or comes, is told."""
        self.failed, bad = self.sent[worker], self.trained[1].copy()
        told = [*self.held, worker]
        self._answer(told)
        while len(told) < self.comm.size - 1:
            told.append(self._receive(tail)[0])
            self._answer(told[-1:])
        self.trained[1][:] = bad  # there the first place is looked for that is not finite

    def _answer(self, workers):
        self.answer[: self.parameters.trainable] = self.trained[0]
        now = time.perf_counter()
        for worker in workers:
            self.answer[HELD] = now - self.held.pop(worker, now)
            self.answer[MEETS], self.answer[UNTIL] = self.agreed, self.meeting - self.sent[worker]
            self.answer[FAILED], self.answer[SINCE] = self.failed is not None, self.sent[worker] - (self.failed or 0)
            self.comm.Send(self.answer, worker)

    def update(self, progress):
        """It has been made."""

    def whole_loss(self, loss):
        return _of_server(self.comm, loss)


class AsyncWorker(WorkerSide):
    """Sends a gradient, takes what weights there are, goes on."""

    lockstep = False

    def __init__(self, *parts):
        super().__init__(*parts)
        self.answer = np.empty(self.parameters.trainable - MEETS, self.parameters.value.dtype)

    def combine(self, tail, count, total, progress):
        before, own = self.comm.bytes, self.parameters.tail(tail)
        own[SAMPLES] = count
        self.comm.Send(self.parameters.reduced(tail), 0)
        self.comm.Recv(self.answer, 0)
        self.waited = float(self.answer[HELD])
        loss = _finite(float(own[LOSS]) * total / max(1, count), own)  # its mean is that of this worker's samples
        own[:] = 0
        if self.answer[FAILED]:  # the weights stay as they were, so that the place can be found
            self.failed, own[LOSS] = progress.step - int(self.answer[SINCE]), np.nan
        else:
            self.trained[0][:] = self.answer[: self.parameters.trainable]
            own[LOSS], own[NEWS] = loss, self.answer[MEETS] and self.answer[UNTIL] == 0
        return self.comm.bytes - before

    def whole_loss(self, loss):
        return _of_server(self.comm, loss)


def _finite(loss, tail):
    """A finite loss as the tail can hold it: none that the server has let pass becomes infinite on one rank alone."""
    most = np.finfo(tail.dtype).max
    return float(np.clip(loss, -most, most))


def _of_server(comm, number):
    return float(comm.Bcast(np.array([number]))[0])
