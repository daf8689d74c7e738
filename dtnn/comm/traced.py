"""`Traced`: a communicator that notes every message and every span of waiting."""

import time
from types import SimpleNamespace

import numpy as np

from ..records import Message, Span


class Traced:
    """Another communicator, and a note of all that is done with it.

    Parameters
    ----------
    comm : Communicator
        Does the work.
    notes : list, optional
        Where `Message` and `Span` go: anything with ``append``, such as a ``deque(maxlen=...)``; ``self.notes`` if left out.
    clock : callable
        Seconds; ``time.perf_counter`` is the same on all ranks of one host.

    Attributes
    ----------
    on : bool
        Set it to False, and nothing is noted until it is True again; next to nothing is what that costs.

    Notes
    -----
    A collective's own messages are the library's secret: it is one span. What is built of `Send`, `Recv` and `Sendrecv` shows
    all of its messages, each noted by its sender. A part that `Split` makes notes in the same place, and is switched on and off
    with the whole; ranks are noted by their numbers in the whole.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> from dtnn.comm.collectives import ring
    >>> def job(comm):
    ...     traced = Traced(comm)
    ...     ring(traced, np.ones(6))
    ...     return [(note.source, note.dest, note.bytes) for note in traced.notes if isinstance(note, Message)]
    >>> run_threads(job, 3)[0]
    [(0, 1, 16), (0, 1, 16), (0, 1, 16), (0, 1, 16)]
    """

    def __init__(self, comm, notes=None, clock=time.perf_counter):
        self.comm, self.clock, self.kept = comm, clock, SimpleNamespace(notes=[] if notes is None else notes, on=True)
        self.rank, self.size, self.names = comm.rank, comm.size, range(comm.size)

    def __getattr__(self, name):
        return getattr(self.comm, name)  # bytes, fail, and what only this kind of communicator has

    on = property(lambda self: self.kept.on, lambda self, on: setattr(self.kept, "on", on))
    notes = property(lambda self: self.kept.notes, lambda self, notes: setattr(self.kept, "notes", notes))

    def Split(self, color, key=0):
        part = self._span("Split", None, self.comm.Split, color, key)
        if part is None:
            return None
        names = np.zeros(part.size, np.int64)
        names[part.rank] = self.names[self.rank]
        traced = Traced(part, clock=self.clock)
        traced.kept, traced.names = self.kept, part.Allreduce(names).tolist()
        return traced

    def Send(self, array, dest, tag=0):
        if not self.on:
            return self.comm.Send(array, dest, tag)
        begin = self.clock()
        self.comm.Send(array, dest, tag)
        self.notes.append(Message(self.name, self.names[dest], tag, array.nbytes, begin, self.clock() - begin))

    def Recv(self, array, source, tag=0):
        return self._span(self._recv(source), array, self.comm.Recv, array, source, tag)

    def Probe(self, tag=0):
        return self._span("Probe", None, self.comm.Probe, tag)

    def Sendrecv(self, sent, dest, received, source, tag=0):
        if not self.on:
            return self.comm.Sendrecv(sent, dest, received, source, tag)
        begin = self.clock()
        self.comm.Sendrecv(sent, dest, received, source, tag)
        seconds = self.clock() - begin
        self.notes.append(Message(self.name, self.names[dest], tag, sent.nbytes, begin, seconds))
        self.notes.append(Span(self.name, self._recv(source), received.nbytes, begin, seconds))

    def Bcast(self, array, root=0):
        return self._span("Bcast", array, self.comm.Bcast, array, root)

    def Allreduce(self, array, op="sum"):
        return self._span("Allreduce", array, self.comm.Allreduce, array, op)

    def Iallreduce(self, array, op="sum"):
        request = self.comm.Iallreduce(array, op)
        return TracedRequest(self, request, array.nbytes) if self.on else request

    def Gather(self, array, root=0):
        return self._span("Gather", array, self.comm.Gather, array, root)

    def Barrier(self):
        return self._span("Barrier", None, self.comm.Barrier)

    @property
    def name(self):
        """This rank's number in the whole."""
        return self.names[self.rank]

    def _recv(self, source):
        return f"Recv from {self.names[source] if 0 <= source < self.size else source}"

    def _span(self, name, array, call, *args):
        if not self.on:
            return call(*args)
        begin = self.clock()
        result = call(*args)
        self.notes.append(Span(self.name, name, getattr(array, "nbytes", 0), begin, self.clock() - begin))
        return result


class TracedRequest:
    """A request whose span, from its beginning to the moment it was seen to have ended, is noted once."""

    def __init__(self, traced, request, size):
        self.traced, self.request, self.size, self.begin = traced, request, size, traced.clock()

    def Test(self):
        ended = self.request.Test()
        if ended:
            self._note()
        return ended

    def Wait(self):
        self.request.Wait()
        self._note()

    def _note(self):
        if self.begin is not None:
            spent = self.traced.clock() - self.begin
            self.traced.notes.append(Span(self.traced.name, "Iallreduce", self.size, self.begin, spent))
            self.begin = None
