"""`Microscope`: the gradients of all ranks before their reduction, and what it made of them, in single steps."""

import base64
import math
import time

import numpy as np

from ..kernels.updates_adaptive import squares
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
        self.segments = {segment.name: segment for segments in self.layers.values() for segment in segments}
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
        return squares(gradient) * (total / count) ** 2 if count else 0.0

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
        sums = {name: Sums(self.comm.size) for name in self.layers}
        wanted = [(asked, self._thinned(asked)) for asked in self.asked or [""]]
        taken = {(name, every): ([], []) for _, thinned in wanted for name, every in thinned.items()}
        for start in range(0, self.own.size, PIECE):
            self._take_piece(start, sums, taken)
        if self.comm.rank:
            return []
        columns = [list(column) for column in zip(*(each.told() for each in sums.values()))] or [[]] * 5
        told = []
        for asked, thinned in wanted:
            told.append(GradientValues(step, self._values(thinned, taken), time.time()))
            told.append(Gradients(step, asked, list(samples), float(local), list(self.layers), *columns, time.time()))
        return told

    def _take_piece(self, start, sums, taken):
        """Gather one piece of the flat gradients, and on rank 0 add it up and take from it what is to be told."""
        place = slice(start, min(start + PIECE, self.own.size))
        own, held = self.comm.Gather(self.own[place]), self.comm.Gather(self._held(place))
        if self.comm.rank:
            return
        held = self._of_use(held)
        for layer, segments in self.layers.items():
            for segment in segments:
                part = _part(segment, place)
                if part.start < part.stop:  # most pieces hold but few layers
                    sums[layer].add(own[:, part].astype(np.float64), held[:, part].astype(np.float64))
        for name, every in taken:
            part = _part(self.segments[name], place, every)
            for rows, pieces in zip((own, held), taken[name, every]):
                pieces.append(rows[:, part].copy())

    def _segments(self, name):
        """The parameters of a layer, or of what is inside it, or one of that very name."""
        return [s for s in self.segments.values() if s.name == name or s.name.startswith(f"{name}.")]

    def _held(self, place):
        """The reduced gradient as this rank has it; where ranks have shares, zeros beyond its own."""
        gradient, share = self.parameters.grad[place], self.exchange.own
        if share is None:
            return gradient
        held, mine = np.zeros_like(gradient), slice(max(place.start, share.start), min(place.stop, share.stop))
        if mine.start < mine.stop:
            held[mine.start - place.start : mine.stop - place.start] = self.parameters.grad[mine]
        return held

    def _of_use(self, held):
        """The rows with which somebody updates: where there are servers theirs alone, where there are shares all as one."""
        if self.exchange.own is not None:
            return held.sum(0, keepdims=True)
        return held[: self.exchange.servers or None]

    def _thinned(self, asked):
        """Every how many-th number is to be told, by the parameter's name."""
        segments = self._segments(asked) if asked else self.segments.values()
        most = ASKED if asked else KEPT
        numbers = max(1, most // (2 * self.comm.size * max(1, len(segments)) * self.own.itemsize))
        return {segment.name: -(-segment.size // numbers) for segment in segments}

    def _values(self, thinned, taken):
        return {name: _told(self.segments[name], every, *map(_joined, taken[name, every])) for name, every in thinned.items()}


class Sums:
    """What is added up, piece by piece, of one layer's gradients of all ranks."""

    def __init__(self, size):
        self.products, self.after, self.off, self.total = np.zeros((size, size)), 0.0, 0.0, 0.0

    def add(self, own, held):
        """Take in some numbers of the layer: a row for each rank, in double precision."""
        whole = own.sum(0)
        self.products += own @ own.T
        self.after = self.after + np.square(held).sum(1)
        self.off = self.off + np.square(held - whole).sum(1)
        self.total += float(whole @ whole)

    def told(self):
        """before, after, total, off, cosines: see `Gradients`."""
        before = np.sqrt(np.diagonal(self.products))
        with np.errstate(invalid="ignore"):
            cosines = np.clip(self.products / np.outer(before, before), -1, 1)
        after, off = np.sqrt(self.after).tolist(), np.sqrt(self.off).tolist()
        return before.tolist(), after, math.sqrt(self.total), off, cosines.tolist()


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


def _part(segment, place, every=1):
    """Which numbers of a piece of the flat vector are a segment's, or each `every`-th of it, counted from its first; or none.

    >>> from dtnn.nn.parameters import Segment
    >>> segment = Segment("linear_1.weight", 16, 8, (2, 4), True, True)
    >>> [list(range(100))[_part(segment, slice(start, start + 7), 3)] for start in (7, 14, 21, 28)]
    [[], [2, 5], [1], []]
    """
    start, stop = max(segment.start, place.start), min(segment.start + segment.size, place.stop)
    start += (segment.start - start) % every
    return slice(start - place.start, max(start, stop) - place.start, every)


def _joined(pieces):
    return np.concatenate(pieces, axis=1)


def _told(segment, every, own, held):
    alike = all(np.array_equal(row, held[0], equal_nan=True) for row in held)
    before, after = ([base64.b64encode(row.tobytes()).decode() for row in rows] for rows in (own, held[:1] if alike else held))
    shape = [int(size) for size in segment.shape]
    return {"shape": shape, "dtype": str(own.dtype), "every": every, "before": before, "after": after}
