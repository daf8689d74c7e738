"""`Emulated`: a slow network, a slow rank, a lost or damaged message, on a machine that has none of these."""

import time

import numpy as np

from . import cost
from .communicator import known_rank
from .flat import flat


class Emulated:
    """Another communicator behind a slower network.

    Parameters
    ----------
    comm : Communicator
        Does the work.
    latency : float
        Seconds that each message takes longer (alpha).
    bandwidth : float, optional
        Bytes a second that go through each rank's link, sending and receiving at once; left out, as many as there come.
    slow : dict of int to float
        Ranks that compute slower: ``{1: 1.5}`` stretches whatever rank 1 does between two calls to one and a half.
    lose : tuple of int, optional
        ``(rank, number)``: the message with that number (from 0) that the rank sends never arrives.
    damage : tuple of int, optional
        ``(rank, number)``: of that message, one bit arrives wrong.
    clock, sleep : callable
        Where the seconds come from.

    Raises
    ------
    ValueError
        Negative latency, bandwidth not above 0, a factor below 1, or a rank that there isn't.

    Notes
    -----
    A collective of the library does not show its messages; it takes as long as Rabenseifner's algorithm would (`dtnn.comm.cost`;
    broadcasts a binomial tree).  Only calls of `Send` and `Sendrecv` count as messages that can be lost or damaged.  What
    `Split` gives has the plain network.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> from dtnn.comm.collectives import ring
    >>> def seconds(comm):
    ...     link = Emulated(comm, latency=0.01)
    ...     begin = time.perf_counter()
    ...     ring(link, np.ones(4))
    ...     return time.perf_counter() - begin
    >>> min(run_threads(seconds, 3)) > 0.04
    True
    """

    def __init__(
        self,
        comm,
        latency=0.0,
        bandwidth=None,
        slow=None,
        lose=None,
        damage=None,
        clock=time.perf_counter,
        sleep=time.sleep,
    ):
        self.comm, self.latency, self.beta = comm, latency, 0.0 if bandwidth is None else 1.0 / _positive(bandwidth)
        if latency < 0:
            raise ValueError(f"Emulated(latency={latency}): seconds can't be negative; give 0 or more")
        for rank, factor in (slow or {}).items():
            known_rank(rank, comm.size, "slow rank")
            if factor < 1:
                raise ValueError(f"Emulated(slow={{{rank}: {factor}}}): a rank can only be made slower; give 1 or more")
        self.factor = (slow or {}).get(comm.rank, 1.0)
        self.lost, self.damaged = _number(lose, comm), _number(damage, comm)
        self.clock, self.sleep, self.sent = clock, sleep, 0
        self.link_free = self.left = clock()

    def __getattr__(self, name):
        return getattr(self.comm, name)  # rank, size, bytes, fail, and what only this kind of communicator has

    def Send(self, array, dest, tag=0):
        self._enter()
        self._travel(array.nbytes)
        self._deliver(array, lambda message: self.comm.Send(message, dest, tag))
        self._leave()

    def Recv(self, array, source, tag=0):
        self._around(self.comm.Recv, array, source, tag)

    def Sendrecv(self, sent, dest, received, source, tag=0):
        self._enter()
        self._travel(max(sent.nbytes, received.nbytes))
        arrived = self._deliver(sent, lambda message: self.comm.Sendrecv(message, dest, received, source, tag))
        if not arrived:
            self.comm.Recv(received, source, tag)
        self._leave()

    def Bcast(self, array, root=0):
        return self._around(self.comm.Bcast, array, root, seconds=self._tree(array.nbytes) / 2)

    def Allreduce(self, array, op="sum"):
        return self._around(self.comm.Allreduce, array, op, seconds=self._reduction(np.asarray(array).nbytes))

    def Iallreduce(self, array, op="sum"):
        self._enter()
        request = self.comm.Iallreduce(array, op)
        self.link_free = max(self.link_free, self.clock()) + self._reduction(array.nbytes)
        self._leave()
        return EmulatedRequest(self, request, self.link_free)

    def Gather(self, array, root=0):
        seconds = self._tree(0) / 2 + (self.size - 1) * array.nbytes * self.beta
        return self._around(self.comm.Gather, array, root, seconds=seconds)

    def Barrier(self):
        self._around(self.comm.Barrier, seconds=self._tree(0) / 2)

    def _around(self, call, *args, seconds=0.0):
        self._enter()
        result = call(*args)
        self._sleep(seconds)
        self._leave()
        return result

    def _enter(self):
        """A slow rank comes later: what it has done since it left took longer."""
        self._sleep((self.factor - 1) * (self.clock() - self.left))

    def _leave(self):
        self.left = self.clock()

    def _travel(self, size):
        self._sleep(self.latency + size * self.beta)

    def _deliver(self, array, send):
        """Hand over a message, unless it is the one to be lost; whether it was."""
        number, self.sent = self.sent, self.sent + 1
        if number == self.lost:
            return False
        send(_with_a_wrong_bit(array) if number == self.damaged else array)
        return True

    def _sleep(self, seconds):
        if seconds > 0:
            self.sleep(seconds)

    def _reduction(self, size):
        return cost.rabenseifner(self.size, size).seconds(self.latency, self.beta)

    def _tree(self, size):
        return cost.tree(self.size, size).seconds(self.latency, self.beta)


class EmulatedRequest:
    """A request that has not ended before a moment, however fast the real one was; the link carries one at a time."""

    def __init__(self, link, request, moment):
        self.link, self.request, self.moment = link, request, moment

    def Test(self):
        return self.request.Test() and self.link.clock() >= self.moment

    def Wait(self):
        self.request.Wait()
        self.link._sleep(self.moment - self.link.clock())
        self.link._leave()


def _number(message, comm):
    """Which of this rank's messages is meant, or None."""
    if message is None:
        return None
    rank, number = message
    return number if known_rank(rank, comm.size, "rank") == comm.rank else None


def _with_a_wrong_bit(array):
    """A copy whose middle byte has its highest bit the other way: in a float a large error or a small one, as it happens."""
    wrong = flat(array).copy()
    letters = wrong.view(np.uint8)
    if letters.size:
        letters[letters.size // 2] ^= 128
    return wrong.reshape(array.shape)


def _positive(bandwidth):
    if bandwidth <= 0:
        raise ValueError(f"Emulated(bandwidth={bandwidth}): bytes a second must be above 0; leave it out for no limit")
    return bandwidth
