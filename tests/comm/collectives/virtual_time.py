"""A communicator whose clock only messages move: what an algorithm costs in the alpha-beta model, whatever the machine does."""

import numpy as np


class VirtualTime:
    """Each rank has a clock; a message takes alpha + bytes x beta from when both sides are ready.

    The sender's clock travels before each message. Sending and receiving at once takes as long as the longer of both.
    What is added up in an array that `numbers` gave takes bytes x gamma.
    """

    def __init__(self, comm, alpha, beta, gamma=0.0):
        self.comm, self.alpha, self.beta, self.gamma, self.now = comm, alpha, beta, gamma, 0.0
        self.rank, self.size = comm.rank, comm.size

    def numbers(self, array):
        """The array, but adding to it, or to a part of it, takes time."""
        array = array.view(Numbers)
        array.clock = self
        return array

    def Send(self, array, dest, tag=0):
        self.comm.Send(np.array([self.now]), dest, tag)
        self.comm.Send(array, dest, tag)
        self.now += self._seconds(array)

    def Recv(self, array, source, tag=0):
        theirs = np.zeros(1)
        self.comm.Recv(theirs, source, tag)
        self.comm.Recv(array, source, tag)
        self.now = max(self.now, theirs[0]) + self._seconds(array)

    def Sendrecv(self, sent, dest, received, source, tag=0):
        theirs = np.zeros(1)
        self.comm.Sendrecv(np.array([self.now]), dest, theirs, source, tag)
        self.comm.Sendrecv(sent, dest, received, source, tag)
        self.now = max(self.now, theirs[0]) + max(self._seconds(sent), self._seconds(received))

    def _seconds(self, array):
        return self.alpha + self.beta * array.nbytes


class Numbers(np.ndarray):
    """An array that notices what is added to it."""

    def __array_finalize__(self, source):
        self.clock = getattr(source, "clock", None)

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **settings):
        if ufunc is np.add and self.clock is not None:
            self.clock.now += self.clock.gamma * self.nbytes
        if out:
            settings["out"] = tuple(map(plain, out))
        result = getattr(ufunc, method)(*map(plain, inputs), **settings)
        return out[0] if out else result


def plain(value):
    return value.view(np.ndarray) if isinstance(value, Numbers) else value
