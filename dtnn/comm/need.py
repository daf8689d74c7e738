"""`Need`: what a rank of MPI waits for, and what others must do that it ends."""

from dataclasses import dataclass, field


@dataclass
class Need:
    """What a wait is for.

    Parameters
    ----------
    words : str
        As in "to receive float64 (3,) from rank 1 (tag 0)"; {} stands for the ranks that keep it waiting.
    of : list of (int, str, int)
        Ranks, and how often each must have done what; not to have done it keeps this rank waiting.
    anybody : bool
        One of them is enough to end the wait; else it takes all.
    """

    words: str
    of: list = field(default_factory=list)
    anybody: bool = False


def of_nobody():
    """The `Need` of whoever waits for what all ranks have begun, which MPI brings to its end."""
    return Need("for what all have begun")
