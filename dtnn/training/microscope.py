"""`Microscope`: the gradients of all ranks before their reduction, and what it made of them, in single steps."""

import base64
import math
import time

import numpy as np

from ..records import Gradients, GradientValues

PIECE = 1 << 18  # numbers of each rank that rank 0 gathers at a time
ASKED, KEPT = 4_000_000, 100_000  # bytes of numbers told of a layer that was asked for, and of all layers of a step that is kept


class Microscope:
    """What one rank keeps of its gradient in the steps that are looked at, and what rank 0 then tells.

    Parameters
    ----------
    comm : Communicator
    parameters : Parameters
    exchange : Exchange
        Of the strategy that reduces.
    every : int
        Steps from one that is kept to the next; 0: only what is asked for.

    Notes
    -----
    The scale of the gradient noise costs one number in the tail of the reduction.  Norms and angles of single layers need the
    gradients themselves: in the steps that are looked at, and only there, rank 0 gathers them, 2 P n numbers, a piece at a time.
    Each rank keeps a copy of its n numbers from its first such step on.
    """

    def __init__(self, comm, parameters, exchange, every=0):
        if every and not exchange.lockstep:
            raise ValueError(
                f"keep_gradients_every={every}: with {exchange.strategy!r} ranks are at different steps, so there are no "
                "gradients of all ranks in one step; use keep_gradients_every=0, or a strategy whose ranks step together"
            )
        self.comm, self.parameters, self.exchange, self.every = comm, parameters, exchange, every
        self.layers = trained_layers(parameters)
        self.own, self.asked = None, []

    def looks_at(self, step, asked):
        """Whether a step is one to look at; `asked` are the layers that somebody wants to see of it."""
        self.asked = [name for name in dict.fromkeys(asked) if self._segments(name) and self.exchange.lockstep]
        return bool(self.asked) or bool(self.every and step % self.every == 0)

    def keep(self, count, total):
        """Copy this rank's gradient of `count` samples, before it is reduced; returns what is to ride in the tail.

        That is the squared norm of the mean gradient over these samples: the sum over the ranks is `Gradients.local`.
        """
        gradient = self.parameters.grad[: self.parameters.trainable]
        self.own = np.empty_like(gradient) if self.own is None else self.own
        self.own[:] = gradient
        return _square(gradient) * (total / count) ** 2 if count else 0.0

    def compare(self, step, samples, local):
        """After the reduction, before the update: what is to be told of the step; collective.

        Parameters
        ----------
        step : int
        samples : list of int
            Of each rank.
        local : float
            The sum over the ranks of what `keep` returned.

        Returns
        -------
        list of records
            On rank 0; nothing on the others.
        """
        found = [self._norms(segments) for segments in self.layers.values()]
        columns = [list(column) for column in zip(*found)] or [[]] * 5
        told = []
        for asked in self.asked or [""]:
            segments = self._segments(asked) if asked else [s for segments in self.layers.values() for s in segments]
            values = self._values(segments, ASKED if asked else KEPT)
            told.append(GradientValues(step, values, time.time()))
            told.append(Gradients(step, asked, list(samples), float(local), list(self.layers), *columns, time.time()))
        return told if self.comm.rank == 0 else []

    def _segments(self, name):
        """The parameters of a layer, or of what is inside it, or one of that very name."""
        segments = (s for segments in self.layers.values() for s in segments)
        return [s for s in segments if s.name == name or s.name.startswith(f"{name}.")]

    def _norms(self, segments):
        """Of one layer: before, after, total, off, cosines, see `Gradients`; nothing but zeros on ranks other than 0."""
        size = self.comm.size
        products, after, off, total = np.zeros((size, size)), 0.0, 0.0, 0.0
        for start, stop in _pieces(segments):
            own, held = self._gathered(slice(start, stop))
            if self.comm.rank == 0:
                whole = own.sum(0)
                products += own @ own.T
                after = after + np.square(held).sum(1)
                off = off + np.square(held - whole).sum(1)
                total += float(whole @ whole)
        before = np.sqrt(np.diagonal(products))
        with np.errstate(invalid="ignore"):
            cosines = np.clip(products / np.outer(before, before), -1, 1)
        return before.tolist(), np.sqrt(after).tolist(), math.sqrt(total), np.sqrt(off).tolist(), cosines.tolist()

    def _gathered(self, place):
        """All ranks' own gradient and what they hold now, on rank 0, in double precision: two matrices with a row for each."""
        own, held = self.comm.Gather(self.own[place]), self.comm.Gather(self._held()[place])
        if self.comm.rank:
            return None, None
        return own.astype(np.float64), self._of_use(held.astype(np.float64))

    def _held(self):
        """The reduced gradient as this rank has it; where ranks have shares, zeros beyond its own."""
        gradient, share = self.parameters.grad[: self.parameters.trainable], getattr(self.exchange, "own", None)
        if share is None:
            return gradient
        held = np.zeros_like(gradient)
        held[share] = gradient[share]
        return held

    def _of_use(self, held):
        """The rows with which somebody updates: where there are servers theirs alone, where there are shares all as one."""
        if hasattr(self.exchange, "own"):
            return held.sum(0, keepdims=True)
        return held[: self.exchange.servers or None]

    def _values(self, segments, most):
        """The numbers of some parameters, by name, thinned to `most` bytes; collective, and empty on ranks other than 0."""
        numbers = max(1, most // (2 * self.comm.size * max(1, len(segments)) * self.own.itemsize))
        values = {}
        for segment in segments:
            every = -(-segment.size // numbers)
            place = slice(segment.start, segment.start + segment.size, every)
            own, held = self.comm.Gather(self.own[place]), self.comm.Gather(self._held()[place])
            if self.comm.rank == 0:
                values[segment.name] = _told(segment, every, own, self._of_use(held))
        return values


def trained_layers(parameters):
    """The trainable segments of each layer by its name, in order.

    >>> from dtnn import zoo
    >>> {name: len(segments) for name, segments in trained_layers(zoo.lenet5().parameters).items()}
    {'conv2d_1': 2, 'conv2d_2': 2, 'linear_1': 2, 'linear_2': 2, 'linear_3': 2}
    """
    layers = {}
    for segment in parameters.segments:
        if segment.trainable:
            layers.setdefault(segment.name.rpartition(".")[0] or segment.name, []).append(segment)
    return layers


def _pieces(segments):
    for segment in segments:
        for start in range(segment.start, segment.start + segment.size, PIECE):
            yield start, min(start + PIECE, segment.start + segment.size)


def _told(segment, every, own, held):
    alike = all(np.array_equal(row, held[0], equal_nan=True) for row in held)
    before, after = ([base64.b64encode(row.tobytes()).decode() for row in rows] for rows in (own, held[:1] if alike else held))
    shape = [int(size) for size in segment.shape]
    return {"shape": shape, "dtype": str(own.dtype), "every": every, "before": before, "after": after}


def _square(vector):
    with np.errstate(over="ignore"):
        return float(np.dot(vector, vector))
