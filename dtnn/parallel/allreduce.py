"""`AllReduce`: every step, the gradients of all ranks are summed, so that all make the same update."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AllReduce:
    """Synchronous data parallelism: ``grad <- sum over ranks of grad``, every step.

    Parameters
    ----------
    bucket_bytes : int, optional
        The flat gradient goes out in contiguous pieces of at most so many bytes, from the back, the order in which backward
        finishes them. Left out, it goes out whole.
    overlap : bool
        Begin all pieces before waiting for the first, instead of one after the other.

    Raises
    ------
    ValueError
        `bucket_bytes` is not positive.

    Notes
    -----
    A piece costs its own start-up time alpha, 1 to 50 microseconds. LeNet-5's whole gradient (247 KB) takes about 50
    microseconds between two ranks of one machine: there pieces only cost. They pay where they can be on their way
    while the rest is still being computed.

    Examples
    --------
    >>> AllReduce()
    AllReduce(bucket_bytes=None, overlap=False)
    """

    bucket_bytes: int | None = None
    overlap: bool = False

    def __post_init__(self):
        if self.bucket_bytes is not None and self.bucket_bytes < 1:
            raise ValueError(f"AllReduce(bucket_bytes={self.bucket_bytes}): give a positive number of bytes, or leave it out")

    def reduce(self, comm, parameters, tail=0):
        """Sum the trainable gradients, and the `tail` numbers behind them, over all ranks, in place; collective.

        Parameters
        ----------
        comm : Communicator
        parameters : Parameters
            What is summed is ``parameters.reduced(tail)``.
        tail : int
            How many numbers behind the gradients ride along, see `Parameters.tail`.

        Returns
        -------
        int
            Bytes that this rank handed over; 0 on one rank.
        """
        region = parameters.reduced(tail)
        if comm.size == 1 or not region.size:
            return 0
        if self.overlap:
            for request in [comm.Iallreduce(bucket) for bucket in self.buckets(region)]:
                request.Wait()
        else:
            for bucket in self.buckets(region):
                comm.Allreduce(bucket)
        return region.nbytes

    def buckets(self, region):
        """The contiguous pieces of a flat vector, the last first; together they are all of it.

        >>> import numpy as np
        >>> [bucket.tolist() for bucket in AllReduce(bucket_bytes=16).buckets(np.arange(5.0))]
        [[3.0, 4.0], [1.0, 2.0], [0.0]]
        """
        step = max(1, region.size if self.bucket_bytes is None else self.bucket_bytes // region.itemsize)
        return [region[max(0, stop - step) : stop] for stop in range(region.size, 0, -step)]
