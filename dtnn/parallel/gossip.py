"""`Gossip`: every rank updates by itself, then mixes its weights with those of few others."""

from dataclasses import dataclass

import numpy as np

from ..allowed import one_of
from .average import Average, floats, largest_counts
from .strategy import Exchange, mark_not_finite

TOPOLOGIES = ("ring", "exponential", "complete")
RARELY = 8  # steps in which ranks that are no neighbours hear of each other once


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

    On a ring or an exponential graph no rank hears of all others but in every 8th step, by an all-reduce of a few numbers. There
    each `Step` since the last one is told, with the loss of its global batch, and all do together what one was told: stop,
    pause, take another learning rate; so ``break`` leaves the loop some steps later than it seems. A rank whose loss or gradient
    is not finite keeps its weights until all end there. While a training is led step by step, all know after each; so they do on
    a complete graph, where all end with the weights before the step.

    Cost a step: ring 2 (alpha + n beta), exponential alpha + n beta, and every 8th step 2 ceil(log2 P) alpha more; complete that
    of `AllReduce`.

    Lian et al. (2017), "Can decentralized algorithms outperform centralized algorithms?"; exponential: Assran, Loizou, Ballas and
    Rabbat (2019), "Stochastic gradient push"; the average of an epoch: Chen et al. (2021), Gossip-PGA.

    Examples
    --------
    >>> Gossip("exponential")
    Gossip(topology='exponential')
    """

    topology: str = "ring"

    def __post_init__(self):
        one_of("Gossip's topology", self.topology, TOPOLOGIES)

    def begin(self, comm, parameters, optimizer):
        """See `Strategy`."""
        return Mixing(self, comm, parameters, optimizer)


class Mixing(Exchange):
    """Update first, then mix."""

    alike, apart = False, True

    def __init__(self, *parts):
        super().__init__(*parts)
        self.rarely, self.average, self.tail = 1 if self.equal else RARELY, Average(self.comm), None
        self.sent, self.received = (np.empty(self.trained[0].size + 1, self.parameters.value.dtype) for _ in range(2))

    @property
    def equal(self):
        return self.strategy.topology == "complete"

    goes_back = equal

    def combine(self, tail, count, total, progress):
        before, (_, grad), tail = self.comm.bytes, self.trained, self.parameters.tail(tail)
        grad *= self.comm.size
        self.frozen = mark_not_finite(grad, tail) or self.frozen
        self.late = self.equal and not self.prompt and self.comm.size > 1
        if not (self.quiet or self.late):
            self.comm.Allreduce(tail)
        self.tail = tail
        return self.comm.bytes - before

    def begin_epoch(self, first, last):
        if self.equal:
            self.average.keep(self.trained[0])

    def meets(self, progress):
        return self.equal

    def mix(self, progress):
        before, self.stood = self.comm.bytes, 0.0
        if self.comm.size > 1:
            getattr(self, self.strategy.topology)(progress.step)
        return self.comm.bytes - before

    def ring(self, step):
        """A third of each neighbour's and of one's own; on two ranks, where both neighbours are one, halves."""
        distances = (1,) if self.comm.size == 2 else (1, -1)
        self._pack()
        for distance in distances:
            self._receive(distance)
            self._add()
        self._divide(len(distances) + 1)

    def exponential(self, step):
        """Half one's own, half of a rank whose distance doubles from step to step."""
        self._pack()
        self._receive(1 << (step - 1) % (self.comm.size - 1).bit_length())
        self._add()
        self._divide(2)

    def complete(self, step):
        """The mean of all."""
        self.average([self.trained[0]], 1 / self.comm.size, self.tail if self.late else None)

    def _pack(self):
        """What neighbours get: this rank's weights, and when it came."""
        self.sent[:-1], self.sent[-1] = self.trained[0], self.moment

    def _receive(self, distance):
        """From the rank so far behind, while the one so far ahead gets what is sent."""
        rank, size = self.comm.rank, self.comm.size
        self.comm.Sendrecv(self.sent, (rank + distance) % size, self.received, (rank - distance) % size)
        self.stood = max(self.stood, float(self.received[-1]) - self.moment)

    def _add(self):
        if not self.frozen:
            self.trained[0][:] += self.received[:-1]

    def _divide(self, count):
        if not self.frozen:
            self.trained[0][:] /= count

    def undo(self):
        self.average.go_back(self.trained[0])

    def settle(self):
        self.average([self.trained[0], *floats(self.state)], 1 / self.comm.size)
        largest_counts(self.comm, self.state)
