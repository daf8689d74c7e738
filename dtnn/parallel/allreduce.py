"""`AllReduce`: every step, the gradients of all ranks are summed, so that all make the same update."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..allowed import flag, one_of, whole
from ..comm import collectives
from .compared import Compared
from .strategy import Exchange

OVERLAPPED = 2 << 20  # bytes of a bucket, where nothing else is asked for
LAST = 256 << 10  # bytes: there buckets are smaller towards the end, where little is left to travel behind, down to so many
MOST_SHARED = 8 << 20  # bytes of gradients worth a place of their own; more take long anyway, and like huge pages better


@dataclass(frozen=True)
class AllReduce:
    """Synchronous data parallelism: ``grad <- sum over ranks of grad``, every step.

    Parameters
    ----------
    algorithm : str or callable
        How a vector is summed: "native" (the communicator's own), "ring", "rabenseifner" ... (see `dtnn.comm.collectives`), or a
        function of your own, ``algorithm(comm, array)``, that sums the array over all ranks in place. Whether it does is
        looked at before the first step of a training, see `Compared`; `check_allreduce` shows the smallest example of it.
    bucket_bytes : int, optional
        The flat gradient goes out in contiguous pieces of at most so many bytes, from the back, the order in which backward
        finishes them. Left out, it goes out whole; with `overlap`, in pieces of 2 MB, towards the end of half of what is
        left: the last has nothing to travel behind.
    overlap : bool
        Begin a piece as soon as backward has finished it and those behind it, so that it travels while the rest is computed;
        with "native" only.
    checked : bool
        False: train with a function of your own whatever it does, to see what comes of it.

    Raises
    ------
    ValueError
        No such algorithm (the message has the nearest name), `bucket_bytes` is not positive, or `overlap` with an algorithm that
        can't be begun without waiting for it.
    TypeError
        `algorithm` is neither a name nor a function.
    WrongSum
        In a training, on all ranks: a function of your own does not give the sum.

    Notes
    -----
    A piece costs its own start-up time alpha, 1 to 50 microseconds. LeNet-5's whole gradient (247 KB) takes about 50
    microseconds between two ranks of one machine: there pieces only cost, and overlap wins nothing, for the same cores that
    compute also copy. Both pay where a network takes its time. With backward b_l of layer l and the time c_l for its piece, from
    the last layer to the first, a step takes: ``t = forward; n = 0;  for l: t += b_l; n = max(t, n) + c_l;  max(t, n)``.
    With gradient accumulation the last micro-batch is what pieces travel behind. What rides behind the gradient goes last,
    in a message of its own. MPI moves messages only when it is called: see `dtnn.comm.stirring`.

    Li et al. (2020), "PyTorch distributed: experiences on accelerating data parallel training".

    Examples
    --------
    >>> AllReduce("ring", bucket_bytes=1_000_000)
    AllReduce(algorithm='ring', bucket_bytes=1000000, overlap=False)
    """

    algorithm: str | Callable = "native"
    bucket_bytes: int | None = None
    overlap: bool = False
    checked: bool = field(default=True, repr=False)

    def __post_init__(self):
        if not callable(self.algorithm):
            one_of("AllReduce's algorithm", self.algorithm, collectives.ALGORITHMS, ", or a function of yours (comm, array)")
        flag("AllReduce's overlap", self.overlap)
        flag("AllReduce's checked", self.checked)
        if self.overlap and self.algorithm != "native":
            raise ValueError(
                f"AllReduce({self.algorithm!r}, overlap=True): only the native algorithm can be begun without waiting for it; "
                f'use algorithm="native", or overlap=False'
            )
        if self.bucket_bytes is not None:
            whole("AllReduce's bucket_bytes", self.bucket_bytes, 1, more=", or leave it out")

    @property
    def unrepeatable(self):
        """See `Strategy`."""
        if not self.overlap:
            return ""
        return "leaves it to the library when, and so in which order, it adds up what is on its way; use overlap=False"

    def begin(self, comm, parameters, optimizer):
        """See `Strategy`."""
        return Together(self, comm, parameters, optimizer)

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
        if comm.size == 1:
            return 0
        region = parameters.reduced(tail)
        if self.algorithm == "native" and self.bucket_bytes is None and not self.overlap:
            comm.Allreduce(region)  # the usual case without detours
            return region.nbytes
        own = callable(self.algorithm)
        if own and tail:
            comm.Allreduce(region[-tail:])  # apart: what ranks decide must not depend on a function that may be wrong
        self._reduce(comm, region[: region.size - tail] if own else region)
        return region.nbytes

    def _reduce(self, comm, region):
        if self.overlap:
            for request in [comm.Iallreduce(bucket) for bucket in self.buckets(region)]:
                request.Wait()
            return
        algorithm = self.algorithm if callable(self.algorithm) else getattr(collectives, self.algorithm)
        for bucket in self.buckets(region):
            algorithm(comm, bucket)

    def buckets(self, region):
        """The contiguous pieces of a flat vector, the last first; together they are all of it.

        >>> import numpy as np
        >>> [bucket.tolist() for bucket in AllReduce(bucket_bytes=16).buckets(np.arange(5.0))]
        [[3.0, 4.0], [1.0, 2.0], [0.0]]
        """
        most = self.bucket_bytes or (OVERLAPPED if self.overlap else max(1, region.nbytes))
        step, stop, pieces = max(1, most // region.itemsize), region.size, []
        least = step if self.bucket_bytes or not self.overlap else LAST // region.itemsize
        while stop:
            start = max(0, stop - min(step, max(least, stop // 2)))
            pieces.append(region[start:stop])
            stop = start
        return pieces


class Together(Exchange):
    """All ranks update alike; with overlap the exchange has begun when `combine` is called."""

    def __init__(self, *parts):
        super().__init__(*parts)
        self.overlap, self.reducing = None, self.strategy
        if callable(self.strategy.algorithm) and self.strategy.checked:
            self.reducing = replace(self.strategy, algorithm=Compared(self.strategy.algorithm, self.parameters))
        self._share_gradients()
        if self.strategy.overlap and self.comm.size > 1:
            from .overlap import Overlap  # it knows layers, so it loads Numba, which a communicator's user may not want

            self.overlap = Overlap(self.comm, self.parameters, self.strategy.buckets(self.parameters.reduced()))

    def _share_gradients(self):
        """Keep the gradients where the native sum needs no copies, if the communicator has such a place."""
        shared, size = getattr(self.comm, "shared", None), self.parameters.gradient_bytes
        if shared is None or self.strategy.algorithm != "native" or self.strategy.overlap or size > MOST_SHARED:
            return
        memory = shared(size)
        if memory is not None:
            self.parameters.place_gradients(memory)

    def watcher(self):
        return self.overlap

    def combine(self, tail, count, total, progress):
        if self.overlap is None:
            return self.reducing.reduce(self.comm, self.parameters, tail)
        handed = self.overlap.finish(self.parameters.tail(tail))
        self.begun, self.hidden = self.overlap.begun, self.overlap.hidden
        self.overlap.reset()
        return handed
