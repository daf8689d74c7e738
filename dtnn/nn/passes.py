"""`Pass`: what a layer may know of the step it is in, and where its buffers come from."""

import math

import numpy as np

from ..kernels.aligned import SLACK, aligned, has_slack
from ..kernels.random import WORD
from ..kernels.tape import call, recorder


class Pass:
    """One forward and backward of a network over this rank's part of a global batch.

    Buffers belong to the pass and never to a layer, so two forwards before two backwards, and one layer used twice
    in a network, are right.  `begin` starts the next pass and hands the same memory out again, in the same order.

    Parameters
    ----------
    seed : int
        Of everything random in the run.
    training : bool
        False: inference.  Dropout does nothing, normalisation uses its running statistics.

    Attributes
    ----------
    number : int
        Number of the step in the run.
    first, count, global_batch : int
        This rank holds samples first .. first + count of a global batch of that many.
    watcher : object, or None
        Has the methods ``forward(layer)`` and ``backward(layer)``; a `Sequential` calls them when a layer of it has just done
        that, so for a layer inside another one first for the inner, then for the outer.

    Examples
    --------
    >>> step = Pass(seed=1)
    >>> step.begin(number=0, first=0, count=8, global_batch=8)
    >>> a = step.empty((3, 8))
    >>> step.begin(number=1, first=0, count=8, global_batch=8)
    >>> step.empty((3, 8)) is a
    True
    """

    def __init__(self, seed=0, training=True):
        self.seed, self.training = seed, training
        self.number = self.first = 0
        self.place = np.array([seed & WORD, 0, 0], np.uint64)  # seed, number and first, for kernels
        self.count = self.global_batch = None  # as many as x has
        self._kept = None  # buffers, once begun; a pass that never begins keeps nothing
        self._free, self._owners = [], {}  # buffers given back; all buffers by the memory that they own
        self._used = self._keys = 0
        self._input = self._sum = self.watcher = None

    def begin(self, number, first, count, global_batch, x=None, sum_over_ranks=None, watcher=None):
        """Start the next pass: its buffers are those of the last one.

        Parameters
        ----------
        number, first, count, global_batch : int
        x : ndarray, optional
            The model's input: no layer computes a gradient for it.
        sum_over_ranks : function, optional
            Sums an array over the ranks, in place; None: this rank is alone.
        watcher : object, optional
            Is told when a layer is done, see the class.
        """
        self.number, self.first, self.count, self.global_batch = number, first, count, global_batch
        self.place[1:] = number, first
        self._kept = [] if self._kept is None else self._kept
        self._used = self._keys = 0
        self._free.clear()
        self._input, self._sum, self.watcher = x, sum_over_ranks, watcher

    def empty(self, shape, dtype=np.float32):
        """An array of arbitrary content, at the start of a cache line with 16 numbers of slack, until the next `begin`."""
        if self._kept is None:
            return aligned(shape, dtype)
        size = (math.prod(shape) + SLACK) * np.dtype(dtype).itemsize
        for k, buffer in enumerate(self._free):
            if size <= buffer.memory.nbytes <= 2 * size:
                return self._free.pop(k).array(shape, dtype)
        if self._used == len(self._kept):
            self._kept.append(Buffer())
        buffer = self._kept[self._used]
        self._used += 1
        if size > buffer.memory.nbytes:
            self._owners.pop(id(buffer.memory.base), None)
            buffer.memory, buffer.last = aligned(size, np.uint8), None
            self._owners[id(buffer.memory.base)] = buffer
        return buffer.array(shape, dtype)

    def give_back(self, array):
        """Nobody will read this array again: its memory, still warm in the cache, may become the next `empty`.

        For gradients on their way back, which live from one layer to the next.  An array that is not from `empty` is left alone.
        """
        buffer = self._owners.get(id(array.base))
        if buffer is not None and buffer not in self._free:
            self._free.insert(0, buffer)

    def next_key(self):
        """0, 1, 2 ... within a pass: so that two dropouts, or one used twice, draw different masks."""
        self._keys += 1
        return self._keys - 1

    def is_input(self, x):
        """Whether x is the model's input, or a view of it, whose gradient nobody wants."""
        return self._input is not None and (x is self._input or np.may_share_memory(x, self._input))

    def sum_over_ranks(self, array):
        """Sum an array over the ranks, in place; nothing on one rank."""
        if self._sum is not None:
            self._sum(array)

    def copy(self, array, dtype=None):
        """The same numbers, C-contiguous, in a buffer of this pass."""
        array = np.asarray(array)
        buffer = self.empty(array.shape, dtype or array.dtype)
        call(assign, buffer, array)
        return buffer

    # ---- who watches

    @property
    def watched(self):
        """Whether somebody wants to know when layers are done, or may want to when this is done again."""
        return self.watcher is not None or recorder.tape is not None

    def tell_forward(self, layer):
        """Tell the watcher, if there is one now."""
        if self.watcher is not None:
            self.watcher.forward(layer)

    def tell_backward(self, layer):
        """The same for a backward."""
        if self.watcher is not None:
            self.watcher.backward(layer)


def assign(to, array):
    """to[...] = array, of any float type"""
    to[...] = array


def joined(dx, into=None):
    """dx, or `into` with dx added: how the gradients of branches join."""
    return dx if into is None else call(np.add, into, dx, into)


class Buffer:
    """Memory that is handed out again and again, and remembers the last array that it was."""

    def __init__(self):
        self.memory, self.last = aligned(0, np.uint8), None

    def array(self, shape, dtype):
        """Its beginning, as an array."""
        last = self.last
        if last is None or last.shape != shape or last.dtype != dtype:
            dtype = np.dtype(dtype)
            last = self.last = self.memory[: math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
        return last


def checked(x, shape, layer, step, dtype=None, slack=False):
    """x as a kernel can take it: of the right shape and type, C-contiguous; copied into a buffer of the pass if it isn't.

    Parameters
    ----------
    x : ndarray, (*shape, N)
    shape : tuple of int, or None
        Shape of one sample; None: any.
    layer : Layer
        For the error.
    step : Pass
    dtype : dtype, optional
        float32 or float64; None: x's own if it is one of them, else float32.
    slack : bool
        The kernel may read 16 numbers past the end.

    Raises
    ------
    ValueError
        If the shape is another one.
    """
    if shape is not None and x.shape[:-1] != shape:
        raise ValueError(
            f"{layer!r} was built for samples of shape {shape}, so it takes arrays of shape {(*shape, 'N')} (the batch is the "
            f"last axis), but got {x.shape}; build the layer, or the model, for the shape it is to be used with"
        )
    if dtype is None:
        dtype = x.dtype if x.dtype == np.float64 else np.float32
    if x.dtype == dtype and x.flags.c_contiguous and (not slack or x.shape[-1] % 16 == 0 or has_slack(x)):
        return x
    return step.copy(x, dtype)
