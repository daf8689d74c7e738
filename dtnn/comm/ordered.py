"""`Ordered`: a communicator whose sums have the same bits in every run."""

import numpy as np

from .checked import known_communicator, known_operation
from .collectives.rabenseifner import rabenseifner
from .collectives.recursive_doubling import recursive_doubling
from .flat import number_or_array, put_back, reducible
from .serial import Ended

SHORT = 16384  # bytes: up to here fewer messages count more than fewer bytes


class Ordered:
    """Another communicator, but sums are added up in an order that depends on the number of ranks and the length alone.

    An MPI library may add in another order each time, as messages come, or on another network; here it is written down who adds
    what to what. So a sum has the same bits in every run, and the same on threads and over MPI.

    Parameters
    ----------
    comm : Communicator
        Does the work: all verbs are its own, but for the sums of `Allreduce` and `Iallreduce`.

    Notes
    -----
    Cost of a sum: that of recursive doubling up to 16 KB, of Rabenseifner's algorithm above. `Iallreduce` of a sum ends before it
    returns: nothing overlaps with it.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     numbers = np.array([[1e8], [1], [-1e8], [1]], np.float32)
    ...     return float(Ordered(comm).Allreduce(numbers[comm.rank])[0])
    >>> run_threads(job, 4)
    [0.0, 0.0, 0.0, 0.0]
    """

    stir = None  # nothing is ever on its way here while this rank computes
    shared = None  # what is added up here travels as messages, wherever it lies

    def __init__(self, comm):
        known_communicator(comm)
        self.comm, self.rank, self.size = comm, comm.rank, comm.size
        self.inner = 0  # bytes of the messages that sums are made of

    def __getattr__(self, name):
        return getattr(self.comm, name)  # all other verbs, and what only this kind of communicator has

    @property
    def bytes(self):
        """As a sum of the library's own would count: once for each array, however many messages it took."""
        return self.comm.bytes - self.inner

    def Allreduce(self, array, op="sum"):
        value, plain = number_or_array(array)
        if known_operation(op) != "sum" or self.size == 1:
            return self.comm.Allreduce(array, op)
        elements = reducible(value, op)
        self._sum(elements)
        put_back(elements, value)
        return value.item() if plain else array

    def Iallreduce(self, array, op="sum"):
        reducible(array, op)
        if op != "sum":
            return self.comm.Iallreduce(array, op)
        self.Allreduce(array, op)
        return Ended()

    def Split(self, color, key=0):
        """A part of these ranks; its sums are ordered, too."""
        part = self.comm.Split(color, key)
        return None if part is None else Ordered(part)

    def _sum(self, elements):
        half, before = elements.dtype == np.float16, self.comm.bytes
        numbers = elements.astype(np.float32) if half else elements  # half precision is summed in single, as everywhere
        (recursive_doubling if numbers.nbytes <= SHORT else rabenseifner)(self.comm, numbers)
        self.inner += self.comm.bytes - before - elements.nbytes
        if half:
            elements[...] = numbers
