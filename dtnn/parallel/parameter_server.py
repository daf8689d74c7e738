"""`ParameterServer`: rank 0 keeps the weights, the others send it gradients and get weights back."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from .settings import whole_number
from .strategy import Exchange, mark_not_finite


@dataclass(frozen=True)
class ParameterServer:
    """Rank 0 is the server and does not train; ranks 1 .. P-1 are the workers, among whom the batch is divided.

    In each step the workers send their gradients, the server adds them up and updates, and all get its weights::

        grad <- sum over workers of grad             w <- update(w, grad), on the server           w -> workers

    That is synchronous: the weights are those of `AllReduce`, to rounding, for every optimizer, whose state is the server's.
    With staleness s the workers get weights that are s updates old, so that with w_t after t updates::

        w_(t+1) <- update(w_t, grad at w_(t-s))      (at the start, and after each epoch, the workers have the newest)

    Parameters
    ----------
    staleness : int
        s, how many updates old the workers' weights are; 0 is synchronous.

    Raises
    ------
    ValueError, TypeError
        `staleness` is no whole number >= 0; or one rank only, where there would be nobody to train.

    Notes
    -----
    Cost a step: (P-1) (alpha + n beta + n gamma) at the server, the bottleneck; then ceil(log2 P) (alpha + n beta) for the
    weights, and a broadcast of a few numbers between the two, for the loss and for decisions. The ring sends 2 (P-1)/P n.

    Stale weights are here to show what they do to the training, the same in every run: the workers still wait for each other at
    each step, so no time is won, and the server keeps s + 1 copies of the weights.

    Li et al. (2014), "Scaling distributed machine learning with the parameter server"; bounded staleness: Ho et al. (2013).

    Examples
    --------
    >>> ParameterServer()
    ParameterServer(staleness=0)
    """

    staleness: int = 0

    def __post_init__(self):
        whole_number(self, "staleness", 0, "updates that the workers' weights are old; 0 is synchronous")

    def begin(self, comm, parameters, optimizer):
        """See `Strategy`."""
        if comm.size == 1:
            raise ValueError(
                "ParameterServer on 1 rank: rank 0 is the server and does not train, so nobody would; "
                "use 2 ranks or more, or AllReduce()"
            )
        return Server(self, comm, parameters, optimizer) if comm.rank == 0 else Worker(self, comm, parameters, optimizer)


class Side(Exchange):
    """What the server and the workers have in common."""

    alike, servers = False, 1

    @property
    def equal(self):
        return self.strategy.staleness == 0


class Server(Side):
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

    def whole_state(self):
        for name in sorted(self.state):
            self.comm.Bcast(np.atleast_1d(np.asarray(self.state[name])))
        return self.state


class Worker(Side):
    """Sends gradients, receives weights; keeps no state of the optimizer's."""

    def begin_state(self):
        return {}

    def combine(self, tail, count, total, progress):
        before, region = self.comm.bytes, self.parameters.reduced(tail)
        self.comm.Send(region, 0)
        self.comm.Bcast(region[region.size - tail :])
        return self.comm.bytes - before

    def update(self, progress):
        self.trained[1][:] = 0

    def mix(self, progress):
        before = self.comm.bytes
        self.comm.Bcast(self.trained[0])
        return self.comm.bytes - before

    def settle(self):
        self.mix(None)

    def whole_state(self):
        state = self.optimizer.state(self.parameters)
        for name in sorted(state):
            array = np.atleast_1d(np.asarray(state[name]))
            self.comm.Bcast(array)
            state[name] = array if np.ndim(state[name]) else array.item()
        return state

    def take(self, state):
        """It is the server's to keep."""
