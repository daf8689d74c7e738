"""`Overlap`: parts of the gradient are on their way to the other ranks while backward still computes the rest."""

import time

from ..comm.stirring import Stirring
from ..nn import Concatenate, Residual, Sequential, TransformerEncoderBlock
from ..nn.layer import inside
from ..nn.tree import named_parameters

OPEN = Sequential, Residual, Concatenate, TransformerEncoderBlock  # what is inside these is told by a Sequential, one by one
WORTH = 0.005  # seconds: a thread costs more than it wins where buckets travel behind less


class Overlap:
    """One training's exchange behind backward: the watcher of its passes (see `dtnn.nn.Pass`), and what ends each step.

    The flat gradient is cut into buckets, the last numbers first. A bucket is begun when backward has used all layers whose
    parameters lie in it, and all buckets behind it are begun: so the order is the same on all ranks, also on one that had
    no samples, or does not use a layer, and begins them all at the end.

    Parameters
    ----------
    comm : Communicator
    parameters : Parameters
    buckets : list of ndarray
        The slices of ``parameters.reduced()``, in the order in which they are to be sent.

    Attributes
    ----------
    begun : float
        Seconds of the last step that backward lost to beginning buckets and to looking after them.
    hidden : float
        Seconds of it in which buckets were on their way while backward computed, up to when they were seen to have arrived.
    measure : function or None
        What it gives of each bucket, a number, before it goes: `measured` is the sum.
    """

    measure = None

    def __init__(self, comm, parameters, buckets):
        self.comm, self.buckets = comm, buckets
        self.needed = list(needed(parameters, buckets))
        self.stirring, self.stretch = Stirring(comm), getattr(comm, "stretch", None)
        self.lasted = WORTH  # seconds of the last step's backward behind which buckets could travel
        self.reset()

    def reset(self):
        """A new step: nothing has been used, nothing is on its way."""
        self.uses, self.done, self.requests = {}, set(), []
        self.waiting = set(self.needed[0]) if self.needed else set()
        self.number = self.arrived = 0
        self.begun = self.hidden = self.gone = 0.0
        self.first = self.since = None  # the moments from which on something has been, and is, on its way

    def forward(self, layer):
        """A layer was used; it will be done when backward has come back through each of its uses."""
        self.uses[id(layer)] = self.uses.get(id(layer), 0) + 1

    def backward(self, layer):
        """Begin what is now complete, and look after what is on its way."""
        key = id(layer)
        self.uses[key] -= 1
        if not self.uses[key]:
            self.done.add(key)
            self.waiting.discard(key)
        if self.requests or not self.waiting:
            if self.stretch is not None:
                self.stretch()  # of a rank that is to be slow: backward's time, not communication's
            now = time.perf_counter()
            self._look(now)
            self._begin_complete()
            self.begun += time.perf_counter() - now

    def finish(self, tail):
        """Backward has ended: begin what is left, the tail last, and wait for all; returns the bytes that were handed over."""
        self.stirring.stop()
        now = time.perf_counter()
        self.lasted = 0.0 if self.first is None else now - self.first
        if self.since is not None:
            self.hidden += now - self.since
        self.hidden = max(0.0, self.hidden - self.begun)
        self.requests += [self.comm.Iallreduce(bucket) for bucket in self.buckets[self.number :]]
        self.comm.Allreduce(tail)  # one that waits: there ranks compare what they ask for
        for request in self.requests[self.arrived :]:
            request.Wait()
        return sum(bucket.nbytes for bucket in self.buckets) + tail.nbytes

    @property
    def measured(self):
        """Of all buckets; to be asked for between backward and `finish`, before which none is changed that has not gone."""
        return self.gone + sum(self.measure(bucket) for bucket in self.buckets[self.number :])

    def _begin_complete(self):
        while not self.waiting and self.number < len(self.buckets):
            if self.measure is not None:
                self.gone += self.measure(self.buckets[self.number])
            self.requests.append(self.comm.Iallreduce(self.buckets[self.number]))
            self.number += 1
            self.waiting = set(self.needed[self.number] - self.done) if self.number < len(self.buckets) else {None}
        if self.since is None and self.arrived < len(self.requests):
            self.since = time.perf_counter()
            self.first = self.first or self.since
            if self.number < len(self.buckets) and self.lasted >= WORTH:
                self.stirring.start()

    def _look(self, now):
        """Ask after those on their way, in order; the time when the last has arrived ends what was hidden."""
        while self.arrived < len(self.requests) and self.requests[self.arrived].Test():
            self.arrived += 1
        if self.since is not None and self.arrived == len(self.requests):
            self.hidden += now - self.since
            self.since = None


def needed(parameters, buckets):
    """For each bucket the ids of the layers that must be done before it may go."""
    layers, stop = layers_of_segments(parameters), parameters.trainable
    for bucket in buckets:
        start = stop - bucket.size
        there = (s for s in parameters.segments if s.trainable and s.start < stop and start < s.start + s.size)
        yield frozenset(key for segment in there for key in layers[segment.name])
        stop = start


def layers_of_segments(parameters):
    """For each segment's name the ids of the layers that add to its gradient, as far as a Sequential tells of them."""
    names = {id(parameter): name for name, parameter, _ in named_parameters(parameters.layer)}
    layers = {name: set() for name in names.values()}
    for layer in told_layers(parameters.layer):
        for _, parameter, _ in named_parameters(layer):
            layers[names[id(parameter)]].add(id(layer))
    return layers


def told_layers(layer):
    """The layers of which a Sequential tells when they are done; what a layer of the user's own does inside is its own affair.

    >>> from dtnn.nn import Linear, MultiHeadAttention
    >>> list(told_layers(Sequential(Linear(3), Residual(MultiHeadAttention(1)))))
    [Linear(3), MultiHeadAttention(1)]
    """
    if type(layer) not in OPEN:
        yield layer
        return
    for _, _, child in inside(layer):
        yield from told_layers(child)
