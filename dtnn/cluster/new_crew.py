"""`new_crew`: who conducts the runs of a cluster."""

from .asked import is_ready


def new_crew(asked, threads, timeout):
    """What was asked for, not started yet: `ThreadRanks` or `Engines`, each imported when it is wanted.

    Parameters
    ----------
    asked : Asked
    threads : int
        Of each rank that is a thread; engines are told by their environment.
    timeout : float
        Seconds that the start may take.
    """
    if asked.launcher == "threads":
        from .thread_ranks import ThreadRanks

        return ThreadRanks(asked.size, threads)
    from .borrowed import Borrowed
    from .engines import Engines
    from .processes import Processes

    if is_ready(asked.launcher):
        return Engines(Borrowed(asked.launcher, asked.ranks), asked.ranks, timeout)
    return Engines(Processes(asked), asked.size, timeout)
