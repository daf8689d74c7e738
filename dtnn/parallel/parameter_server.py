"""`ParameterServer`: rank 0 keeps the weights, the others send it gradients and get weights back."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from ..allowed import flag, whole
from .asynchronous import AsyncServer, AsyncWorker
from .server_sides import ServerSide, WorkerSide
from .strategy import mark_not_finite


@dataclass(frozen=True)
class ParameterServer:
    """Rank 0 is the server and does not train; ranks 1 .. P-1 are the workers, among whom the batch is divided.

    In each step the workers send their gradients, the server adds them up and updates, and all get its weights::

        grad <- sum over workers of grad             w <- update(w, grad), on the server           w -> workers

    That is synchronous: the weights are those of `AllReduce`, to rounding, for every optimizer, whose state is the server's.

    Without a bound (None) it is asynchronous: nobody waits for anybody, until the end of the epoch. The server makes an update of
    each gradient as it comes, and answers with the newest weights; in between come the other workers' updates::

        for each gradient g that arrives:            w <- update(w, g),              w -> its worker

    There g is the gradient of the worker's own samples, as part of the mean over the global batch: so with SGD the updates of a
    step together move as far as one synchronous update, while Adam and the like make a whole step of each.

    With staleness s >= 1 it is bounded, between the two: asynchronous, but a worker that would be more than s steps ahead of the
    slowest gets its answer only when that one has caught up. So the steps that workers are in are at most s apart. One that is
    slow now and then holds up nobody; one that is always slow does, as soon as the others are s steps ahead.

    Parameters
    ----------
    staleness : int or None
        s, how many steps apart workers may be; 0 is synchronous, None asynchronous.
    exact : bool
        True: to see what stale weights do, and nothing else: all take each step together, and workers get weights that are s
        updates old. With w_t after t updates (at the start, and after each epoch, the workers have the newest)::

            w_(t+1) <- update(w_t, grad at w_(t-s))

    Raises
    ------
    ValueError, TypeError
        `staleness` is no whole number >= 0; or None, and `exact`; or one rank only, where there would be nobody to train; or the
        network reduces within a step (``BatchNorm2d(sync=True)``), which only a server that is synchronous or `exact` allows.

    Notes
    -----
    Cost a step: (P-1) (alpha + n beta + n gamma) at the server, the bottleneck; then ceil(log2 P) (alpha + n beta) for the
    weights, and a broadcast of a few numbers between the two, for the loss and for decisions. The ring sends 2 (P-1)/P n.

    With `exact` training is the same in every run, but the workers wait for each other at each step, so no time is won, and the
    server keeps s + 1 copies of the weights.

    Asynchronous or bounded, what holds otherwise no longer does: P ranks don't give the weights of one; two runs differ, as the
    order in which gradients come does; and within an epoch replicas differ, up to the epoch's last step, at which all wait for
    all and get the server's weights. These come back. Losses and decisions ride with each worker's gradient: the server tells the
    loss of step n, each worker's at the weights it had, when all have sent their n-th gradient; a stop is agreed on in advance,
    for the step after the farthest; a gradient that is not finite ends all at the step they are in. `Step.loss` is rank 0's
    alone, so rather than leaving the loop over `train` answer a `Stop`. Clipping acts on each gradient. Two runs can be the same
    with one worker only: then this is `AllReduce`. What a worker waits for its answer because others are behind is its wait in
    the ledger. Steps are not traced.

    Li et al. (2014), "Scaling distributed machine learning with the parameter server"; bounded staleness: Ho et al. (2013);
    asynchronous: Dean et al. (2012), "Large scale distributed deep networks".

    Examples
    --------
    >>> ParameterServer(), ParameterServer(2, exact=True)
    (ParameterServer(staleness=0), ParameterServer(staleness=2, exact=True))
    """

    staleness: int | None = 0
    exact: bool = False

    def __post_init__(self):
        flag("ParameterServer's exact", self.exact)
        if self.staleness is not None:
            words = ": steps that workers may be apart; 0 is synchronous, None asynchronous"
            whole("ParameterServer's staleness", self.staleness, 0, more=words)
        elif self.exact:
            raise ValueError("ParameterServer(staleness=None, exact=True): say how many updates old, such as staleness=2")

    def __repr__(self):
        return f"ParameterServer(staleness={self.staleness}{', exact=True' * self.exact})"

    @property
    def together(self):
        """Whether all take each step together."""
        return self.staleness == 0 or self.exact

    @property
    def unrepeatable(self):
        """See `Strategy`."""
        return "" if self.together else f"makes an update of each gradient as it comes; use {self._instead}"

    @property
    def out_of_step(self):
        """See `Strategy`."""
        return "" if self.together else f"lets each worker be at a step of its own; use {self._instead}"

    @property
    def _instead(self):
        return "staleness=0" if self.staleness is None else "staleness=0, or exact=True"

    def begin(self, comm, parameters, optimizer):
        """See `Strategy`."""
        if comm.size == 1:
            raise ValueError(
                "ParameterServer on 1 rank: rank 0 is the server and does not train, so nobody would; "
                "use 2 ranks or more, or AllReduce()"
            )
        server, worker = (Server, Worker) if self.together else (AsyncServer, AsyncWorker)
        return (server if comm.rank == 0 else worker)(self, comm, parameters, optimizer)


class Server(ServerSide):
    """Adds up and updates, and remembers the last weights."""

    def __init__(self, *parts):
        super().__init__(*parts)
        self.last = deque([self.trained[0].copy()], self.strategy.staleness + 1)

    def combine(self, tail, count, total, progress):
        before, region = self.comm.bytes, self.parameters.reduced(tail)
        received = np.empty_like(region)
        for worker in range(1, self.comm.size):
            self.comm.Recv(received, worker)
            region += received
        mark_not_finite(self.trained[1], region[region.size - tail :])
        self.comm.Bcast(region[region.size - tail :])
        return self.comm.bytes - before

    def mix(self, progress):
        before = self.comm.bytes
        self._remember()
        self.comm.Bcast(self.last[0])
        return self.comm.bytes - before

    def _remember(self):
        """The newest weights, in the memory of the oldest."""
        oldest = self.last.popleft() if len(self.last) == self.last.maxlen else np.empty_like(self.trained[0])
        oldest[:] = self.trained[0]
        self.last.append(oldest)

    def settle(self):
        self.last.clear()
        self._remember()
        self.comm.Bcast(self.last[0])


class Worker(WorkerSide):
    """Sends gradients, receives weights."""

    def combine(self, tail, count, total, progress):
        before, region = self.comm.bytes, self.parameters.reduced(tail)
        self.comm.Send(region, 0)
        self.comm.Bcast(region[region.size - tail :])
        return self.comm.bytes - before

    def mix(self, progress):
        before = self.comm.bytes
        self.comm.Bcast(self.trained[0])
        return self.comm.bytes - before

    def settle(self):
        self.mix(None)
