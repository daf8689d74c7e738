"""`Compressed`: ranks send each other less than their gradients, and keep what they did not send for later."""

import time
from dataclasses import dataclass

import numpy as np

from ..allowed import flag, number, one_of
from ..comm.collectives.ring import ring_all_gather
from . import codecs
from .strategy import Exchange, mark_not_finite

KINDS = ("top_k", "int8", "fp16", "sign")


@dataclass(frozen=True)
class Compressed:
    """Compressed gradients with error feedback.

    With C the compression, g the gradient of a rank (n numbers) and e what it has kept, 0 at the start::

        p = g + e            sent = C(p)            e <- p - sent            grad <- sum over ranks of sent

    So what was sent and what is kept is all of the gradients: nothing is lost, it only comes later. All ranks
    make the same update, so the replicas stay equal, bit by bit.

    Parameters
    ----------
    kind : {"top_k", "int8", "fp16", "sign"}
        "top_k": the k = ceil(keep n) largest numbers, with their places. "int8": whole multiples of max|p| / 127.
        "fp16": half precision. "sign": one bit a number, and the mean of \\|p\\|.
    error_feedback : bool
        Keep the rest for the next step; False forgets it.
    keep : float
        The share of the numbers that "top_k" sends, in (0, 1]; with 1 it is `AllReduce`.

    Raises
    ------
    ValueError
        No such kind (the message has the nearest), or `keep` is no share.

    Notes
    -----
    Cost: (P-1) (alpha + m beta) for an all-gather of m bytes a rank (for n weights, top_k: k times 8 in float32; int8: n,
    fp16: 2n, sign: n/8), and an all-reduce of a few numbers for the loss and for decisions, which are never compressed.
    NumPy converts to and from half precision number by number, which takes longer than "int8" does.
    With many ranks the all-gather, which grows with P, loses what compression wins. What is kept is a vector as large as the
    gradient. A checkpoint holds that of each rank, so it is P vectors larger; on as many ranks a training goes on as if there
    had been no pause, on another number rank 0 goes on with the sum of all that was kept, so nothing is lost, and a note says so.

    Error feedback: Seide et al. (2014), "1-bit stochastic gradient descent"; Karimireddy, Rebjock, Stich and Jaggi (2019).
    top_k: Aji and Heafield (2017); Lin et al. (2018), "Deep gradient compression".

    Examples
    --------
    >>> Compressed("int8")
    Compressed(kind='int8', error_feedback=True, keep=0.01)
    """

    kind: str = "top_k"
    error_feedback: bool = True
    keep: float = 0.01

    def __post_init__(self):
        one_of("Compressed's kind", self.kind, KINDS)
        wanted = "the share of the numbers to send, in (0, 1], such as 0.01"
        number("Compressed's keep", self.keep, wanted, lambda keep: 0 < keep <= 1)
        flag("Compressed's error_feedback", self.error_feedback)

    def begin(self, comm, parameters, optimizer):
        """See `Strategy`."""
        return Feedback(self, comm, parameters, optimizer)

    def encode(self, array):
        """What stands for an array, as bytes: uint8, of a length that depends on the array's alone."""
        return codecs.encode_top_k(array, self.keep) if self.kind == "top_k" else getattr(codecs, f"encode_{self.kind}")(array)

    def add_decoded(self, array, code):
        """Add to an array what `encode` made of another one of its length and type."""
        getattr(codecs, f"add_{self.kind}")(array, code)


class Feedback(Exchange):
    """Keeps what was not sent in `residual`."""

    alike = False  # a rank's own gradient is looked at, before it is compressed
    equal = True

    def __init__(self, *parts):
        super().__init__(*parts)
        self.residual = np.zeros_like(self.trained[0]) if self.strategy.error_feedback else None
        self.between = _between(self.parameters)

    def kept(self):
        return {} if self.residual is None else {"residual": self.residual}

    def combine(self, tail, count, total, progress):
        before, (_, grad), tail = self.comm.bytes, self.trained, self.parameters.tail(tail)
        mark_not_finite(grad, tail)
        self.comm.Allreduce(tail)
        if not np.isfinite(tail[0]):
            return self.comm.bytes - before  # all ranks see it, and end
        table, encoding = measured(self._placed, grad)
        ring_all_gather(self.comm, table.reshape(-1))
        _, decoding = measured(self._decode, table, grad)  # in the order of ranks, so with the same bits everywhere
        self.packed = encoding + decoding
        mark_not_finite(grad, tail)  # the sum may be too large where no part is; all ranks have the same
        return self.comm.bytes - before

    def _placed(self, grad):
        """What this rank sends, in its row of a table of what all send."""
        code = self._encode(grad)
        table = np.empty((self.comm.size, code.size), np.uint8)
        table[self.comm.rank] = code
        return table

    def _encode(self, grad):
        if self.residual is None:
            return self.strategy.encode(grad)
        self.residual += grad
        code = self.strategy.encode(self.residual)
        self._decode([code], grad)
        self.residual -= grad
        return code

    def _decode(self, codes, grad):
        grad[:] = 0
        for code in codes:
            self.strategy.add_decoded(grad, code)
        grad[self.between] = 0  # a sign is never 0


def measured(function, *args):
    """What a function gives, and the seconds that it took.

    >>> measured(abs, -3)[0]
    3
    """
    began = time.perf_counter()
    return function(*args), time.perf_counter() - began


def _between(parameters):
    """The places in the flat vector that belong to no parameter."""
    free = np.ones(parameters.trainable, bool)
    for segment in parameters.segments:
        if segment.trainable:
            free[segment.start : segment.start + segment.size] = False
    return np.flatnonzero(free)
