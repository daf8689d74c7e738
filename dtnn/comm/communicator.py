"""What ranks say to each other: the verbs that every communicator has, with MPI's own names."""

from typing import Protocol


class RankFailed(RuntimeError):
    """Another rank failed while this one waited for it.

    Parameters
    ----------
    rank : int
        The rank that failed.
    reason : str
        What it failed with: its traceback, or what is known of its end.
    """

    def __init__(self, rank, reason):
        super().__init__(rank, reason)
        self.rank, self.reason = rank, reason

    def __str__(self):
        return f"rank {self.rank} failed: {self.reason}"


class Request(Protocol):
    """An operation under way."""

    def Test(self) -> bool:
        """Whether it has ended; also keeps it moving."""

    def Wait(self) -> None:
        """Return when it has ended; `RankFailed` if a rank that takes part in it fails."""


class Communicator(Protocol):
    """`size` ranks, of which this is number `rank`.

    Arrays are NumPy arrays of any layout; all ranks pass the same shape and dtype, and what arrives is written into
    the array that was passed.  Every call that waits ends with `RankFailed` as soon as a rank it waits for has failed,
    and with `KeyboardInterrupt` when this rank is interrupted.
    """

    rank: int
    size: int

    def Send(self, array, dest, tag=0): ...
    def Recv(self, array, source, tag=0): ...
    def Sendrecv(self, sent, dest, received, source, tag=0): ...
    def Bcast(self, array, root=0): ...
    def Allreduce(self, array, op="sum"):
        """Sum (or "max", "min") over the ranks, in place; bit-equal on all ranks."""

    def Iallreduce(self, array, op="sum") -> Request:
        """The same, begun; the array must not be touched before it has ended."""

    def Gather(self, array, root=0):
        """On root, the arrays of all ranks stacked along a new first axis; None elsewhere."""

    def Barrier(self): ...
