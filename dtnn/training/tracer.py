"""`Tracer`: looks at a few steps so closely that it sees every layer and every message."""

import math
import time

from ..comm.traced import Traced
from ..nn import Sequential
from ..nn.tree import named_layers
from ..records import Message, Span, Trace

SHORTEST = 0.5  # seconds between two traced steps where nothing else is asked for ...
SHARE = 0.01  # ... or this share of the run's age, if that is longer: a day of training makes fewer than a thousand traces
TINY = 2e-6  # seconds; a phase that is shorter didn't happen (a wait of the last rank, an exchange after the update)
MOST = 512  # traces of every n-th step; after as many n doubles


class Tracer:
    """The watcher of the passes of traced steps (see `dtnn.nn.Pass`), and the communicator that notes what is done with it.

    Parameters
    ----------
    comm : Communicator
    net : Layer
    watch : Stopwatch
        Its phases become spans.
    trace : bool or int
        True: a step every half second, ever more seldom in a long run; n: every n-th step; False: none.

    Attributes
    ----------
    comm : Traced
        To be used instead of the one that was passed; notes nothing but in a traced step.
    on : bool
        Whether the step under way is traced.

    Notes
    -----
    Cost: under a microsecond a step; a traced one takes 1 to 2 microseconds longer for each layer and message.
    """

    def __init__(self, comm, net, watch, trace=True):
        self.comm, self.watch, self.clock = Traced(comm, [], watch.clock), watch, watch.clock
        self.names = {id(layer): name for name, layer, _ in named_layers(net) if type(layer) is not Sequential}
        self.trace, self.distance = trace, 0 if trace is True else int(trace or 0)
        self.begun, self.last, self.count = self.clock(), -math.inf, 0
        self.on, self.next, self.other, self.mark = False, self.distance == 1, None, 0.0
        self.meeting = False  # whether the next step in which ranks meet is to be traced, too
        self.comm.on = False

    def wants(self, step, now):
        """Whether the step after this one is to be traced; asked once a step, on rank 0: what it says, all ranks do."""
        if self.trace is True:
            due = now - self.last > max(SHORTEST, SHARE * (now - self.begun))
            self.last = now if due else self.last
            return due
        return self.distance > 0 and self.due(step)

    def due(self, step):
        """Whether the step after this one is an n-th, which all ranks know without being told."""
        return self.distance > 0 and (step + 1) % self.distance == 0

    def begin(self, quiet=False):
        """A step begins; a `quiet` one shows no exchange, so the next that does is traced, too."""
        self.on, self.next = self.next or (self.meeting and not quiet), False
        self.meeting = quiet and self.trace is True and (self.on or self.meeting)
        if self.on:
            self.watch.spans, self.comm.notes, self.comm.on = [], [], True
            self.start = self.watch.mark

    def watcher(self, other):
        """Whom a pass tells of its layers: this one in a traced step, which tells `other`, too; else `other`."""
        self.other = other
        return self if self.on else other

    def forward(self, layer):
        """A layer has done its forward."""
        self._note(layer, "forward")
        if self.other is not None:
            self.other.forward(layer)

    def backward(self, layer):
        """A layer has done its backward."""
        self._note(layer, "backward")
        if self.other is not None:
            self.other.backward(layer)
            self.mark = self.clock()  # what the other did is not the next layer's doing

    def end(self, step):
        """A step ends; the `Trace` of it, if it was traced."""
        if not self.on:
            return None
        spans, notes = self.watch.spans, self.comm.notes
        self.drop()
        self.count += 1
        if self.distance and self.count % MOST == 0:
            self.distance *= 2
        rank, start = self.comm.rank, self.start
        told = [Span(rank, name, 0, begin - start, end - begin, phase) for name, phase, begin, end in with_loss(spans)]
        told += [Span(rank, n.name, n.bytes, n.time - start, n.seconds) for n in notes if isinstance(n, Span)]
        sent = [Message(n.source, n.dest, n.tag, n.bytes, n.time - start, n.seconds) for n in notes if isinstance(n, Message)]
        return Trace(rank, step, start, self.watch.mark - start, told, sent, time.time())

    def drop(self):
        """Of the step that is under way no trace is told: nobody wants to see how long it was halted."""
        self.watch.spans, self.on, self.comm.on = None, False, False

    def _note(self, layer, phase):
        now = self.clock()
        begin = max(self.mark, self.watch.mark)
        self.mark = now
        if id(layer) in self.names:
            self.watch.spans.append((self.names[id(layer)], phase, begin, now))


def with_loss(spans):
    """The spans, and between the last layer's forward and the end of all forward that of loss and metrics; no tiny phases.

    >>> with_loss([("linear_1", "forward", 0.0, 0.3), ("forward", "forward", 0.0, 0.5), ("wait", "wait", 0.5, 0.5)])
    [('linear_1', 'forward', 0.0, 0.3), ('loss', 'forward', 0.3, 0.5), ('forward', 'forward', 0.0, 0.5)]
    """
    told = []
    for name, phase, begin, end in spans:
        if name == phase == "forward" and told and told[-1][1] == "forward":
            told.append(("loss", "forward", told[-1][3], end))
        if name != phase or end - begin > TINY:
            told.append((name, phase, begin, end))
    return told
