"""Who trains on which sample when: the same on every rank and every machine, from (seed, epoch) alone."""

from ..allowed import whole
from ..kernels.random import permutation

MOST = 1 << 20  # ranks: more than any machine has


def batches(total, batch_size, seed=0, epoch=0):
    """The global mini-batches of one epoch, as arrays of indices.

    Every rank draws the same permutation and takes its share (see `shares`) of each batch; so each sample is used
    once an epoch, on one rank, whatever the number of ranks.  The last batch is smaller where it has to be.

    Parameters
    ----------
    total, batch_size : int
        Samples in the data set; samples a batch, over all ranks.
    seed, epoch : int
        Another epoch or another seed gives another order.

    Yields
    ------
    ndarray of int64, (n,), n <= batch_size

    Examples
    --------
    >>> [len(batch) for batch in batches(10, 4)]
    [4, 4, 2]
    """
    batch_size = whole("batch_size", batch_size, 1)
    order = permutation(whole("total", total), whole("seed", seed), whole("epoch", epoch))
    for first in range(0, total, batch_size):
        yield order[first : first + batch_size]


def shares(count, size):
    """How `count` samples are divided among `size` ranks: (first, count) for each rank, in a row.

    They differ by one at most, the larger ones first; where samples are fewer than ranks, some are empty.

    Examples
    --------
    >>> shares(10, 3), shares(2, 3)
    ([(0, 4), (4, 3), (7, 3)], [(0, 1), (1, 1), (2, 0)])
    """
    each, more = divmod(whole("count", count), whole("size", size, 1, MOST))
    return [(rank * each + min(rank, more), each + (rank < more)) for rank in range(size)]


def global_batch(total, ranks, batch_size=None, batch_size_per_rank=None):
    """The size of the global batch that the user means, 32 if nothing is said; never more than `total`.

    Raises
    ------
    ValueError
        Both sizes are given, one is no positive number, or the global batch is smaller than the number of ranks.

    Examples
    --------
    >>> global_batch(4000, 2), global_batch(4000, 2, batch_size_per_rank=64), global_batch(10, 2, batch_size=64)
    (32, 128, 10)
    """
    if batch_size is not None and batch_size_per_rank is not None:
        raise ValueError(
            f"batch_size={batch_size} and batch_size_per_rank={batch_size_per_rank} are both given: "
            f"give the global one, or the one a rank (here it would be {batch_size_per_rank * ranks} over {ranks} ranks)"
        )
    total, ranks = whole("total", total), whole("ranks", ranks, 1)
    if batch_size_per_rank is not None:
        return min(total, whole("batch_size_per_rank", batch_size_per_rank, 1) * ranks)
    asked = whole("batch_size", 32 if batch_size is None else batch_size, 1)
    if asked < ranks:
        raise ValueError(
            f"batch_size={asked} is less than one sample for each of {ranks} ranks: it counts the samples of all ranks together. "
            f"Use batch_size={ranks} or more, or fewer ranks"
        )
    return min(total, asked)
