"""Where a panel can start ranks: what its lists offer, and what `Cluster` is told of what was chosen there."""

from .. import machine

LAUNCHERS = {"MPI engines": "mpi", "threads of this process": "threads"}  # the launcher that each word of a list stands for
AUTOMATIC = "automatic"


def threads():
    """What can be chosen for the threads of a rank."""
    return [AUTOMATIC, *range(1, machine.cores() + 1)]


def place(ranks, launcher, threads):
    """What `Cluster` is told.

    Parameters
    ----------
    ranks : int
    launcher : str
        One of `LAUNCHERS`.
    threads : int or str
        Of each rank, or "automatic".

    Examples
    --------
    >>> place(3, "threads of this process", "automatic")
    {'ranks': 3, 'launcher': 'threads', 'threads_per_rank': None}
    """
    return {"ranks": ranks, "launcher": LAUNCHERS[launcher], "threads_per_rank": None if threads == AUTOMATIC else threads}
