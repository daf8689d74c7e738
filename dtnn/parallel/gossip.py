"""`Gossip`: every rank updates by itself, then mixes its weights with those of few others."""

from dataclasses import dataclass

import numpy as np

from .settings import one_of
from .strategy import Exchange, average, average_state, mark_not_finite

TOPOLOGIES = ("ring", "exponential", "complete")


@dataclass(frozen=True)
class Gossip:
    """Decentralised SGD: a step of one's own, then an average over neighbours.

    With g_r the gradient of the samples of rank r, as part of the mean over the global batch, P ranks, and W a matrix whose rows
    and columns add up to 1::

        w_r <- update(w_r, P g_r)               w_r <- sum over ranks q of W[r, q] w_q

    The factor P makes the mean of the replicas follow the gradient of the global batch, whatever the shares. On the complete
    graph all replicas are that mean: `AllReduce`, to rounding, for SGD with or without momentum (which stays each rank's own).

    Parameters
    ----------
    topology : {"ring", "exponential", "complete"}
        Who mixes with whom. "ring": both neighbours, 1/3 each (1/2 on two ranks). "exponential": in step t the mean with rank
        r - 2^(t mod ceil(log2 P)); if P is a power of two, log2 P steps together are an exact average. "complete": all, 1/P each.

    Raises
    ------
    ValueError
        No such topology; the message has the nearest.

    Notes
    -----
    The replicas differ, so P ranks don't give the weights of one rank. At the end of an epoch they, and the optimizer's state,
    are averaged over all ranks (1/P each: their gradients carry the samples' weights already). Clipping acts on a rank's own
    P g_r. Who leaves the loop over `train` by ``break`` has one rank's weights; a `Stop` gives the average.

    Cost a step: ring 2 (alpha + n beta), exponential alpha + n beta, complete that of `AllReduce`; and an all-reduce of a few
    numbers each step, for the loss and for decisions that all ranks must take at once.

    Lian et al. (2017), "Can decentralized algorithms outperform centralized algorithms?"; exponential: Assran, Loizou, Ballas and
    Rabbat (2019), "Stochastic gradient push"; the average of an epoch: Chen et al. (2021), Gossip-PGA.

    Examples
    --------
    >>> Gossip("exponential")
    Gossip(topology='exponential')
    """

    topology: str = "ring"

    def __post_init__(self):
        one_of(self, "topology", TOPOLOGIES)

    def begin(self, comm, parameters, optimizer):
        """See `Strategy`."""
        return Mixing(self, comm, parameters, optimizer)


class Mixing(Exchange):
    """Update first, then mix."""

    alike = False

    def __init__(self, *parts):
        super().__init__(*parts)
        self.received = np.empty_like(self.trained[0])

    @property
    def equal(self):
        return self.strategy.topology == "complete"

    def combine(self, tail, count, total, progress):
        before, (_, grad), tail = self.comm.bytes, self.trained, self.parameters.tail(tail)
        mark_not_finite(grad, tail)
        self.comm.Allreduce(tail)
        grad *= self.comm.size
        return self.comm.bytes - before

    def mix(self, progress):
        before = self.comm.bytes
        if self.comm.size > 1:
            getattr(self, self.strategy.topology)(progress.step)
        return self.comm.bytes - before

    def ring(self, step):
        """A third of each neighbour's and of one's own; on two ranks, where both neighbours are one, halves."""
        value, sent = self.trained[0], self.trained[0].copy()
        distances = (1,) if self.comm.size == 2 else (1, -1)
        for distance in distances:
            self._receive(sent, distance)
            value += self.received
        value /= len(distances) + 1

    def exponential(self, step):
        """Half one's own, half of a rank whose distance doubles from step to step."""
        value = self.trained[0]
        self._receive(value, 1 << (step - 1) % (self.comm.size - 1).bit_length())
        value += self.received
        value *= 0.5

    def complete(self, step):
        """The mean of all."""
        average(self.comm, [self.trained[0]], 1 / self.comm.size)

    def _receive(self, sent, distance):
        """From the rank so far behind, while the one so far ahead gets what is sent."""
        rank, size = self.comm.rank, self.comm.size
        self.comm.Sendrecv(sent, (rank + distance) % size, self.received, (rank - distance) % size)

    def settle(self):
        average(self.comm, [self.trained[0]], 1 / self.comm.size)
        average_state(self.comm, self.state, 1 / self.comm.size)
