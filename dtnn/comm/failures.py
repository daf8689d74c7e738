"""How a wait may end that can't end well."""


class RankFailed(RuntimeError):
    """Another rank failed while this one waited for it.

    Parameters
    ----------
    rank : int
        The rank that failed.
    reason : str
        What it failed with: its traceback, or what is known of its end.

    Examples
    --------
    >>> print(RankFailed(1, "ValueError: negative width"))
    rank 1 failed: ValueError: negative width
    """

    def __init__(self, rank, reason):
        super().__init__(rank, reason)
        self.rank, self.reason = rank, reason

    def __str__(self):
        return f"rank {self.rank} failed: {self.reason}"


class Deadlock(RuntimeError):
    """Ranks wait only for each other, or for ranks that have ended; the text says who waits for whom.

    On threads that is known at once, on MPI after a second.

    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> run_threads(lambda comm: comm.Recv(np.zeros(1), 1 - comm.rank), 2)
    Traceback (most recent call last):
    dtnn.comm.failures.Deadlock: rank 0 waits to receive float64 (1,) from rank 1 (tag 0); ...
    """


class Mismatch(ValueError):
    """Ranks met with different requests: another verb, operation, shape or type; the text says which rank asked for what.

    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> run_threads(lambda comm: comm.Allreduce(np.zeros(comm.rank + 1)), 2)
    Traceback (most recent call last):
    dtnn.comm.failures.Mismatch: ...
    """
