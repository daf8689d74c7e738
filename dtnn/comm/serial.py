"""One rank on its own."""

import numpy as np

from .checked import described, known_color, known_key, known_rank, known_tag
from .failures import Deadlock, Mismatch
from .flat import flat, number_or_array, reducible


class Serial:
    """A communicator of one rank: collectives leave the array as it is, and cost nothing.

    It takes and refuses the same arguments as the others, so a job that runs here runs there.

    Examples
    --------
    >>> comm = Serial()
    >>> comm.rank, comm.size
    (0, 1)
    >>> comm.Allreduce(np.array([1.0, 2.0]))
    array([1., 2.])
    >>> comm.Gather(np.array([1.0, 2.0]))
    array([[1., 2.]])
    """

    rank, size, bytes = 0, 1, 0

    def Send(self, array, dest, tag=0):
        known_rank(dest, 1, "dest"), known_tag(tag)
        raise Deadlock("rank 0 waits to send to itself, and there is no other rank; use Sendrecv, which does both at once")

    def Recv(self, array, source, tag=0):
        known_rank(source, 1, "source"), known_tag(tag)
        raise Deadlock("rank 0 waits to receive from itself, and there is no other rank; use Sendrecv, which does both at once")

    def Probe(self, tag=0):
        known_tag(tag)
        raise Deadlock("rank 0 waits for a message from anybody, and there is no other rank")

    def Sendrecv(self, sent, dest, received, source, tag=0):
        known_rank(dest, 1, "dest")
        known_rank(source, 1, "source"), known_tag(tag)
        flat(sent), flat(received, writeable=True)
        if (sent.shape, sent.dtype) != (received.shape, received.dtype):
            raise Mismatch(f"rank 0 receives {described(received)} and sends itself {described(sent)}; make them alike")
        received[...] = sent

    def Bcast(self, array, root=0):
        known_rank(root, 1, "root")
        flat(array, writeable=True)
        return array

    def Allreduce(self, array, op="sum"):
        value, plain = number_or_array(array)
        reducible(value, op)
        return value.item() if plain else array

    def Iallreduce(self, array, op="sum"):
        reducible(array, op)
        return Ended()

    def Gather(self, array, root=0):
        known_rank(root, 1, "root")
        flat(array)
        return np.array(array, order="C")[None]

    def Barrier(self):
        pass

    def Split(self, color, key=0):
        known_key(key)
        return None if known_color(color) is None else Serial()

    def Free(self):
        pass

    def fail(self, reason):
        pass


class Ended:
    """A request that had nothing to wait for."""

    def Test(self):
        return True

    def Wait(self):
        pass
