"""How algorithms that need a power of two of ranks work with any number: the extra ranks are folded away first."""

import numpy as np


class Fold:
    """The ranks of `comm` as a power of two of places.

    With `extra` ranks too many, the first 2 `extra` ranks form pairs; the even one of each hands its vector to the odd one,
    has no place, and gets the result at the end.

    Attributes
    ----------
    size : int
        The largest power of two that is not above ``comm.size``.
    place : int or None
        This rank's number among them; None if it has none.

    Notes
    -----
    Cost where there are extra ranks: 2 (alpha + n beta) + n gamma.
    """

    def __init__(self, comm):
        self.comm = comm
        self.size = 1 << (comm.size.bit_length() - 1)
        self.extra = comm.size - self.size
        if comm.rank >= 2 * self.extra:
            self.place = comm.rank - self.extra
        else:
            self.place = comm.rank // 2 if comm.rank % 2 else None

    def rank(self, place):
        """The rank that has a place."""
        return 2 * place + 1 if place < self.extra else place + self.extra

    def begin(self, array):
        """Add the vectors of those without a place to their neighbours'."""
        if self.place is None:
            self.comm.Send(array, self.comm.rank + 1)
        elif self.place < self.extra:
            received = np.empty_like(array)
            self.comm.Recv(received, self.comm.rank - 1)
            array += received

    def end(self, array):
        """Give those without a place the result."""
        if self.place is None:
            self.comm.Recv(array, self.comm.rank + 1)
        elif self.place < self.extra:
            self.comm.Send(array, self.comm.rank - 1)
