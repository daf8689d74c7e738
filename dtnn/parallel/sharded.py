"""`Sharded`: each rank keeps the optimizer's state for, and updates, only its share of the weights."""

import dataclasses
import itertools
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from ..comm.collectives.ring import ring_all_gather, ring_reduce_scatter
from .strategy import Exchange, mark_not_finite


@dataclass(frozen=True)
class Sharded:
    """Sharded optimizer state: reduce-scatter, update one's own share, all-gather.

    With s_r the share of rank r of the n weights::

        grad[s_r] <- sum over ranks of grad[s_r]       w[s_r] <- update(w[s_r], grad[s_r])       w[s_r] -> all ranks

    The weights are those of `AllReduce`, to rounding, for every optimizer; clipping takes the norm over all shares.

    Notes
    -----
    Memory for the optimizer's state: 1/P of it, and 1/P of the time for the update. Rules that treat a layer as a whole (LARS,
    LAMB, and any of your own that does not say ``layerwise = False``) get whole weight arrays, so there a share is as large as
    the largest array at least. A checkpoint, at the end of an epoch, needs the whole state and gathers it on every rank.

    Cost: 2 (P-1) alpha + 2 (P-1)/P n beta + (P-1)/P n gamma, that of a ring; and an all-reduce of a few numbers for the loss and
    for decisions, with `clip_norm` another for the norm.

    Rajbhandari, Rasley, Ruwase and He (2020), "ZeRO: memory optimizations toward training trillion parameter models",
    stages 1 and 2.

    Examples
    --------
    >>> Sharded()
    Sharded()
    """

    def begin(self, comm, parameters, optimizer):
        """See `Strategy`."""
        return Share(self, comm, parameters, optimizer)


class Share(Exchange):
    """One rank's share: the slice `own` of the flat vectors, as parameters of their own for the optimizer."""

    alike, equal = False, True

    def begin_state(self):
        parameters, comm = self.parameters, self.comm
        starts = [segment.start for segment in parameters.segments if segment.trainable]
        bounds = cuts(parameters.trainable, comm.size, starts if getattr(self.optimizer, "layerwise", True) else None)
        self.slices = [slice(*pair) for pair in itertools.pairwise(bounds)]
        self.own = self.slices[comm.rank]
        self.part = part(parameters, self.own)
        self.clip_norm = getattr(self.optimizer, "clip_norm", None)
        if self.clip_norm is not None and dataclasses.is_dataclass(self.optimizer):
            self.optimizer = dataclasses.replace(self.optimizer, clip_norm=None)
        return self.optimizer.state(self.part)

    def combine(self, tail, count, total, progress):
        before, (_, grad), tail = self.comm.bytes, self.trained, self.parameters.tail(tail)
        ring_reduce_scatter(self.comm, grad, self._pieces(grad))
        mark_not_finite(self.part.grad, tail)
        self.comm.Allreduce(tail)
        if self.clip_norm is not None:
            self._clip()
        return self.comm.bytes - before

    def _clip(self):
        """As the optimizer would, by the norm over all shares."""
        norm = float(np.sqrt(self.comm.Allreduce(float(np.square(self.part.grad, dtype=np.float64).sum()))))
        if self.clip_norm < norm < np.inf:
            self.part.grad *= self.part.grad.dtype.type(self.clip_norm / norm)

    def update(self, progress):
        self.optimizer.update(self.part, self.state, progress)
        self.trained[1][:] = 0  # others' shares hold partial sums

    def mix(self, progress):
        before = self.comm.bytes
        self._gather(self.trained[0])
        return self.comm.bytes - before

    def whole_state(self):
        whole = {}
        for name in sorted(self.state):
            value, whole[name] = self.state[name], self.state[name]
            if self._is_shared(value):
                whole[name] = np.zeros(self.parameters.trainable, value.dtype)
                whole[name][self.own] = value
                self._gather(whole[name])
        return whole

    def take(self, state):
        whole = (self.parameters.trainable,)
        self.state = {name: value[self.own].copy() if np.shape(value) == whole else value for name, value in state.items()}

    def _is_shared(self, value):
        """Whether a part of the state has a number for each weight; on all ranks alike, though a share may be empty."""
        fits = np.ndim(value) == 1 and np.size(value) == self.part.trainable
        return self.comm.Allreduce(int(fits), "min") == 1

    def _gather(self, array):
        ring_all_gather(self.comm, array, self._pieces(array))

    def _pieces(self, array):
        return [array[piece] for piece in self.slices]


def cuts(total, size, starts=None):
    """Where to cut a vector into `size` shares: size + 1 places; only at `starts`, if they are given.

    >>> cuts(96, 4), cuts(96, 4, [0, 16, 80])
    ([0, 24, 48, 72, 96], [0, 16, 16, 80, 96])
    """
    even = [total * rank // size for rank in range(size + 1)]
    if starts is None:
        return even
    places = [*starts, total]
    return [0, *(min(places, key=lambda start: abs(start - place)) for place in even[1:-1]), total]


def part(parameters, own):
    """What an optimizer needs of `Parameters`, for a slice of the trainable ones."""
    inside = [s for s in parameters.segments if s.trainable and own.start <= s.start < own.stop]
    return SimpleNamespace(
        value=parameters.value[own],
        grad=parameters.grad[own],
        trainable=own.stop - own.start,
        dtype=parameters.value.dtype,
        decay=parameters.decay[own],
        segments=tuple(dataclasses.replace(s, start=s.start - own.start) for s in inside),
    )
