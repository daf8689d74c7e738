"""`Average`: the mean of arrays over the ranks in one reduction, with whatever else is to be summed."""

import numpy as np


class Average:
    """Packs arrays into one, so that however many there are, and a tail, cost the start-up time of a single reduction.

    Parameters
    ----------
    comm : Communicator

    Notes
    -----
    Packing is one pass over the arrays, in which they are weighted; the memory for it is kept, and that of the last mean, too.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     one, two, tail = np.full(2, comm.rank), np.full(1, 3.0), np.ones(1)
    ...     one = one.astype(float)
    ...     Average(comm)([one, two], 1 / comm.size, tail)
    ...     return one.tolist(), two.tolist(), tail.tolist()
    >>> run_threads(job, 2)[0]
    ([0.5, 0.5], [3.0], [2.0])
    """

    def __init__(self, comm):
        self.comm, self.memory, self.last = comm, None, None

    def __call__(self, arrays, weight, tail=None):
        """Put the mean into the arrays, and the sum into the tail; collective.

        Parameters
        ----------
        arrays : list of ndarray
            The first says of which type the numbers are; those of another one are averaged apart.
        weight : float
            Of this rank; those of all add up to 1.
        tail : ndarray, optional
            Where its sum is not finite, the arrays stay what they were.
        """
        if self.comm.size == 1:
            return
        dtype, tail = arrays[0].dtype, np.empty(0) if tail is None else tail
        alike = [array for array in arrays if array.dtype == dtype]
        whole = self._packed(alike, weight, tail, dtype)
        self.comm.Allreduce(whole)
        tail[:] = whole[whole.size - tail.size :]
        if not np.isfinite(tail).all():
            return
        self.last, self.memory = whole, self.last
        for array, piece in _pieces(alike, whole):
            array[...] = piece.reshape(array.shape)
        for array in (array for array in arrays if array.dtype != dtype):
            array *= weight
            self.comm.Allreduce(array)

    def keep(self, array):
        """What is to be the last mean, where there has been none: the first array, equal on all ranks."""
        self.last = array.copy()

    def go_back(self, array):
        """The first array becomes the last mean again."""
        array[:] = self.last[: array.size]

    def _packed(self, arrays, weight, tail, dtype):
        size = sum(array.size for array in arrays) + tail.size
        if self.memory is None or self.memory.size != size:
            self.memory = np.empty(size, dtype)
        for array, piece in _pieces(arrays, self.memory):
            np.multiply(array.reshape(-1), weight, out=piece)
        self.memory[size - tail.size :] = tail
        return self.memory


def _pieces(arrays, whole):
    """Each array, and its place in the whole."""
    start = 0
    for array in arrays:
        yield array, whole[start : start + array.size]
        start += array.size


def floats(state):
    """The arrays of an optimizer's state, by name in order.

    >>> floats({"step": 3, "momentum": np.zeros(2)})
    [array([0., 0.])]
    """
    return [state[name] for name in sorted(state) if np.ndim(state[name])]


def largest_counts(comm, state):
    """The largest of the counts of an optimizer's state, over all ranks, becomes that of each; collective."""
    for name in sorted(state):
        if not np.ndim(state[name]):
            state[name] = comm.Allreduce(state[name], "max")
