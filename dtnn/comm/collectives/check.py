"""`check_allreduce`: whether a function sums right over ranks, and if not, what is wrong in the smallest example."""

import numpy as np

from ...allowed import shown
from ..failures import Deadlock
from ..group import run_threads


class WrongSum(AssertionError):
    """An all-reduce that deadlocks, or gives wrong or different sums; the text shows the smallest example that was found.

    >>> check_allreduce(lambda comm, array: None)
    Traceback (most recent call last):
    dtnn.comm.collectives.check.WrongSum: 2 ranks, 1 number: rank 0 began with [1.] and ended with [1.]; the sum is [11.]
    """


def check_allreduce(function, ranks=range(1, 10), lengths=None):
    """Run an all-reduce on ranks that are threads, from few ranks and numbers to more, and compare with the right sums.

    Parameters
    ----------
    function : callable
        ``function(comm, array)`` sums in place.
    ranks : iterable of int
        Numbers of ranks to try.
    lengths : iterable of int, optional
        Lengths to try; left out: 0, 1, one less and one more than there are ranks, and 1003.

    Raises
    ------
    TypeError
        It is no function.
    WrongSum
        Says for how many ranks and numbers, on which rank, what was there and what should have been; or who waits for whom.
    Exception
        What the function itself raises.

    Examples
    --------
    >>> from dtnn.comm.collectives import ring
    >>> check_allreduce(ring, ranks=[2, 3])
    >>> check_allreduce(lambda comm, array: None, ranks=[2])
    Traceback (most recent call last):
        ...
    dtnn.comm.collectives.check.WrongSum: 2 ranks, 1 number: rank 0 began with [1.] and ended with [1.]; the sum is [11.]
    """
    if not callable(function):
        raise TypeError(f"function={shown(function)}: give a function of a communicator and an array, such as ring, not its name")
    for size in ranks:
        for length in sorted({0, 1, size - 1, size + 1, 1003}) if lengths is None else lengths:
            _check_sums(function, size, length)
            _check_bits(function, size, length)


def _check_sums(function, size, length):
    """A decimal place for each rank: sums are exact, and a wrong one shows whose part is missing, or came twice."""
    begun = [(np.arange(length) % 7 + 1) * 10.0 ** (rank % 15) for rank in range(size)]
    total = sum(begun)
    for rank, ended in enumerate(_results(function, begun)):
        if not np.array_equal(ended, total):
            wrong = int(np.flatnonzero(ended != total)[0])
            where = "" if length <= 6 else f" at [{wrong}]"
            start, end, right = (_shown(array, wrong) for array in (begun[rank], ended, total))
            raise WrongSum(
                f"{_counted(size, length)}: rank {rank} began with {start} and ended with {end}{where}; the sum is {right}"
            )


def _check_bits(function, size, length):
    """Numbers over many decades, whose sum does depend on the order: all ranks must have added up in the same one."""
    rng = np.random.default_rng([size, length])
    begun = list((rng.standard_normal((size, length)) * 10.0 ** rng.uniform(-6, 6, (size, length))).astype(np.float32))
    ended = _results(function, begun)
    for rank in range(1, size):
        if not np.array_equal(ended[rank].view(np.uint32), ended[0].view(np.uint32)):
            place = int(np.flatnonzero(ended[rank].view(np.uint32) != ended[0].view(np.uint32))[0])
            raise WrongSum(
                f"{_counted(size, length)}: the sums differ in their last bits, as rank 0 has {ended[0][place]!r} at [{place}] "
                f"and rank {rank} {ended[rank][place]!r}: ranks add up in different orders, so their replicas will drift apart"
            )


def _results(function, begun):
    def job(comm):
        array = begun[comm.rank].copy()
        function(comm, array)
        return array

    try:
        return run_threads(job, len(begun))
    except Deadlock as error:
        raise WrongSum(f"{_counted(len(begun), begun[0].size)}: {error}") from None


def _counted(size, length):
    return f"{size} rank{'s' * (size != 1)}, {length} number{'s' * (length != 1)}"


def _shown(array, place):
    return str(array) if array.size <= 6 else str(array[place])
