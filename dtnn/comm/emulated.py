"""`Emulated`: a slow network, a slow rank, a lost or damaged message, on a machine that has none of these."""

import contextlib
import math
import time

import numpy as np

from ..allowed import number, whole
from .accidents import DAMAGED, LOST, Accidents, MessageLost, damage_one_bit
from .checked import known_communicator
from .emulated_request import EmulatedRequest
from .faults import check, in_words
from .link import Link
from .pace import Pace, doze


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
    only : int, optional
        The one rank whose link has that latency and bandwidth; left out, all of them.
    smallest : int
        Arrays of fewer bytes don't count as messages to be lost or damaged.
    patience : float
        Seconds after which a rank whose message was lost gives up, where nobody has noticed a deadlock before (on MPI).
    clock, sleep : callable
        Where the seconds come from.

    Attributes
    ----------
    faults : tuple of str
        All that is emulated here and in `comm`, in words.

    Raises
    ------
    ValueError
        Negative latency, bandwidth not above 0, a factor below 1, or a rank that there isn't.

    Notes
    -----
    A collective of the library does not show its messages; it takes as long as Rabenseifner's algorithm would (`dtnn.comm.cost`;
    broadcasts a binomial tree), and counts as one message: to lose it is to not take part, and of what is damaged it is this
    rank's result that has a wrong bit.  Plain numbers don't count.

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
        self, comm, latency=0.0, bandwidth=None, slow=None, lose=None, damage=None, only=None, smallest=0, patience=5.0,
        clock=time.perf_counter, sleep=None,
    ):  # fmt: skip
        settings = dict(latency=latency, bandwidth=bandwidth, slow=slow, lose=lose, damage=damage, only=only)
        check(known_communicator(comm).size, **settings)
        whole("smallest", smallest)
        number("patience", patience, "seconds, more than 0 and not without end, such as 5", lambda value: 0 < value < math.inf)
        self.comm, self.settings = comm, {**settings, "smallest": smallest, "patience": patience, "clock": clock, "sleep": sleep}
        linked = only is None or only == comm.rank
        self.link = Link(comm.size, latency, bandwidth) if linked else Link(comm.size)
        self.accidents = Accidents(comm.rank, lose, damage, smallest, patience)
        self.clock, self.sleep = clock, sleep or self._doze
        self.pace, self.link_free = Pace((slow or {}).get(comm.rank, 1.0), self.clock, self.sleep), clock()
        self.faults = (*getattr(comm, "faults", ()), *in_words(**settings))

    def __getattr__(self, name):
        return getattr(self.comm, name)  # rank, size, bytes, fail, and what only this kind of communicator has

    def stretch(self):
        """A slow rank's computing since its last call takes longer: it sleeps.

        Every call begins with it; a training also calls it after each of its phases, so that each is stretched by itself.
        """
        self.pace.stretch()
        getattr(self.comm, "stretch", _nothing)()
        self.pace.rest()

    def rest(self):
        """What this rank did since its last call was no work."""
        getattr(self.comm, "rest", _nothing)()
        self.pace.rest()

    def Send(self, array, dest, tag=0):
        with self._call(self.link.travel(array.nbytes)):
            self.accidents.deliver(self.comm, array, f"Send to rank {dest}", lambda message: self.comm.Send(message, dest, tag))

    def Recv(self, array, source, tag=0):
        with self._call():
            self.comm.Recv(array, source, tag)

    def Probe(self, tag=0):
        with self._call():
            return self.comm.Probe(tag)

    def Sendrecv(self, sent, dest, received, source, tag=0):
        with self._call(self.link.travel(max(sent.nbytes, received.nbytes))):
            exchange = lambda message: self.comm.Sendrecv(message, dest, received, source, tag)  # noqa: E731
            if not self.accidents.deliver(self.comm, sent, f"Sendrecv to rank {dest}", exchange):
                self.comm.Recv(received, source, tag)

    def Bcast(self, array, root=0):
        return self._together(self.comm.Bcast, array, root, seconds=self.link.tree(array.nbytes) / 2)

    def Allreduce(self, array, op="sum"):
        return self._together(self.comm.Allreduce, array, op, seconds=self.link.reduction(np.asarray(array).nbytes))

    def Iallreduce(self, array, op="sum"):
        fate = self.accidents.fate(array)
        with self._call():
            request = self.comm.Iallreduce(array, op)
        self.link_free = max(self.link_free, self.clock()) + self.link.reduction(array.nbytes)
        return EmulatedRequest(self, request, array, fate, self.link_free)

    def Gather(self, array, root=0):
        seconds = self.link.tree(0) / 2 + (self.size - 1) * array.nbytes * self.link.beta
        return self._together(self.comm.Gather, array, root, seconds=seconds)

    def Barrier(self):
        with self._call(after=self.link.tree(0) / 2):
            self.comm.Barrier()

    def Split(self, color, key=0):
        """The part has the same network, and its ranks compute as slowly; messages are neither lost nor damaged there."""
        with self._call():
            part = self.comm.Split(color, key)
        if part is None:
            return None
        same = {name: self.settings[name] for name in ("patience", "clock", "sleep")}
        part = Emulated(part, self.link.latency, self.link.bandwidth, {part.rank: self.pace.factor}, **same)
        part.faults = self.faults  # where ranks have the numbers that they had when it was asked for
        return part

    @contextlib.contextmanager
    def _call(self, before=0.0, after=0.0):
        """A call that takes some seconds longer, made by a rank that comes later if it is slow."""
        try:
            self.stretch()
            self._sleep(before)
            yield
            self._sleep(after)
        except KeyboardInterrupt:
            if self.accidents.gone:
                raise MessageLost(self.accidents.gone) from None
            raise
        finally:
            self.pace.rest()

    def _together(self, call, array, *args, seconds=0.0):
        fate = self.accidents.fate(array)
        with self._call(after=seconds):
            if fate == LOST:
                self.wait_in_vain(array, call.__name__)
            result = call(array, *args)
            if fate == DAMAGED:
                damage_one_bit(array)
            return result

    def wait_in_vain(self, array, what):
        """The wait of a rank whose part in a collective was lost."""
        self.sleep(self.accidents.patience)
        raise MessageLost(self.accidents.loss(array, what))

    def _sleep(self, seconds):
        if seconds > 0:
            self.sleep(seconds)

    def _doze(self, seconds):
        doze(seconds, getattr(self.comm, "look", _nothing))


def _nothing():
    pass
