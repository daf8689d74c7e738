"""`Parameters`: all parameters of a network in one flat vector, all gradients in another."""

import hashlib
from dataclasses import dataclass

import numpy as np

from ..kernels.aligned import SLACK, aligned
from .check_weights import check_gone, check_layers, check_shape, check_weights
from .tree import named_buffers, named_parameters, with_root

ALIGNMENT = 16  # numbers; every segment starts at a cache line
ROOM = 96  # numbers behind the trainable gradients, for what rides in their reduction


@dataclass(frozen=True)
class Segment:
    """Where one parameter lies in the flat vectors."""

    name: str
    start: int
    size: int
    shape: tuple
    decay: bool
    trainable: bool


class Parameters:
    """The flat vectors of a network: so that broadcast, reduction, update, checkpoint and hash are one pass over plain memory.

    Making one moves every `Parameter` of the tree into them: its `value` and `grad` become views.

    Parameters
    ----------
    layer : Layer
        The built network.
    dtype : dtype, default float32
        float64 for proofs and gradient checks.

    Attributes
    ----------
    value, grad : ndarray, (size,)
        Trainable parameters first, each at a cache line, then room for the tail, then the frozen ones.
    segments : tuple of Segment
        In that order; names like "conv2d_1.weight", "residual_1.body.conv2d_2.weight".
    moved : list of (Segment, Parameter)
        The parameters as they were found.
    trainable : int
        So many numbers are trained: `value[:trainable]`, `grad[:trainable]`.
    decay : ndarray, (trainable,)
        1 where weight decay acts, 0 elsewhere.
    buffers : dict of ndarray
        Running statistics by name.

    Examples
    --------
    >>> from dtnn.nn import Linear, Sequential
    >>> net = Sequential(Linear(3), Linear(2))
    >>> _ = net.build((4,), np.random.default_rng(0))
    >>> p = Parameters(net)
    >>> [s.name for s in p.segments]
    ['linear_1.weight', 'linear_1.bias', 'linear_2.weight', 'linear_2.bias']
    >>> net.layers[0].weight.value.base is p.value.base
    True
    """

    def __init__(self, layer, dtype=np.float32):
        self.layer, self.dtype = layer, np.dtype(dtype)
        found = sorted(named_parameters(layer), key=lambda entry: not entry[2])  # stable: trainable ones first
        self.trainable = sum(rounded(p.value.size) for _, p, trainable in found if trainable)
        size = self.trainable + ROOM + sum(rounded(p.value.size) for _, p, trainable in found if not trainable)
        self.value, self.grad = aligned(size, self.dtype), aligned(size, self.dtype)
        self._region = None  # what was last asked of `reduced`
        self._own_memory = True
        self.decay = np.zeros(self.trainable, self.dtype)
        self.segments, self._views, start = [], {}, 0
        for name, parameter, trainable in found:
            start = max(start, 0 if trainable else self.trainable + ROOM)
            self.segments.append(self._move(name, parameter, trainable, start))
            start += rounded(parameter.value.size)
        self.segments = tuple(self.segments)
        self.moved = list(zip(self.segments, (parameter for _, parameter, _ in found)))
        self.buffers = named_buffers(layer, self.dtype)

    def _move(self, name, parameter, trainable, start):
        shape, size = np.shape(parameter.value), np.size(parameter.value)
        place = slice(start, start + size)
        self.value[place] = np.reshape(parameter.value, -1)
        parameter.value, parameter.grad = self.value[place].reshape(shape), self.grad[place].reshape(shape)
        self._views[name] = parameter.value, parameter.grad
        parameter.learns = trainable
        if trainable:
            self.decay[place] = parameter.decay
        return Segment(name, start, size, shape, parameter.decay, trainable)

    def tail(self, count):
        """`count` numbers directly behind grad[:trainable] in the same memory, so that they ride in the same reduction."""
        return self.reduced(count)[self.trainable :]

    def reduced(self, count=0):
        """grad[:trainable + count]: the gradients with the tail, one contiguous vector; asked for again, the same object."""
        if not 0 <= count <= ROOM:
            raise ValueError(f"Parameters: a tail of {count} numbers was asked for; there is room for {ROOM} at most")
        if self._region is None or self._region.base is not self.grad.base or self._region.size != self.trainable + count:
            self._region = self.grad[: self.trainable + count]
        return self._region

    def place_gradients(self, memory):
        """Keep the gradients in other memory from now on, such as other processes see; they are zero then.

        Parameters
        ----------
        memory : ndarray of uint8
            `gradient_bytes` of them, that begin at a cache line.
        """
        self.grad, self._own_memory, self._region = memory[: self.grad.nbytes].view(self.dtype), False, None
        self.grad[:] = 0
        for s, parameter in self.moved:
            parameter.grad = self.grad[s.start : s.start + s.size].reshape(s.shape)
            self._views[s.name] = self._views[s.name][0], parameter.grad

    def clear_gradients(self):
        """All gradients become zero, in memory of this process alone: where they lay, others may still write."""
        if self._own_memory:
            self.grad[:] = 0
        else:
            self.place_gradients(aligned(self.gradient_bytes, np.uint8))
            self._own_memory = True

    @property
    def gradient_bytes(self):
        """Bytes that the gradients need, with the slack that kernels rely on."""
        return self.grad.nbytes + SLACK * self.dtype.itemsize

    def take_over(self):
        """Take what was put by hand in the place of a parameter, or of its array, ``layer.weight.value = array``.

        Its numbers go into the flat vectors, and the views are back in their places.

        Raises
        ------
        ValueError
            It has another shape, or the parameter is no `Parameter` any more; says how to change a weight. Or there are other
            layers.
        """
        layers = with_root(self.layer)
        check_layers(self.layer, layers)
        now = {name: parameter for name, parameter, _ in named_parameters(self.layer, layers)}
        for number, (s, parameter) in enumerate(self.moved):
            if s.name not in now:
                check_gone(s.name, {prefix: layer for prefix, layer, _ in layers}.get(s.name[: s.name.rfind(".") + 1]))
            elif now[s.name] is not parameter or not self._has_views(s.name, parameter):
                check_shape(f"{s.name}.value", now[s.name].value, s.shape)
                self._move(s.name, now[s.name], s.trainable, s.start)
                self.moved[number] = s, now[s.name]
        found = named_buffers(self.layer, self.dtype, layers)
        for name in self.buffers.keys() & found.keys():
            check_shape(name, found[name], self.buffers[name].shape)
            self.buffers[name] = found[name]

    def _has_views(self, name, parameter):
        value, grad = self._views[name]
        return parameter.value is value and parameter.grad is grad

    def state(self):
        """Copies of all parameters and buffers by name, for a checkpoint."""
        return {name: array.copy() for name, array in self._by_name().items()}

    def _by_name(self):
        return {s.name: self.value[s.start : s.start + s.size].reshape(s.shape) for s in self.segments} | self.buffers

    def load(self, arrays):
        """Take the values from a dict by name; all of them must be there, with their shapes.

        Raises
        ------
        ValueError
            If a name is missing or unknown, or a shape is another one.
        TypeError
            If it is no dict.
        """
        here = self._by_name()
        check_weights(arrays, here)
        for name, array in here.items():
            array[...] = arrays[name]

    def hash(self, buffers=()):
        """Hexadecimal digest of all values, and of the buffers of these names: equal on two ranks only if every bit is."""
        found = hashlib.sha256(self.value)
        for name in sorted(buffers):
            found.update(np.ascontiguousarray(self.buffers[name]))
        return found.hexdigest()

    def __reduce__(self):
        return Parameters, (self.layer, self.dtype)  # the layers carry the values; making it again makes the views


def rounded(size):
    """The next multiple of `ALIGNMENT`."""
    return -(-size // ALIGNMENT) * ALIGNMENT
