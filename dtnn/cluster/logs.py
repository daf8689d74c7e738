"""The method of `Cluster` that shows what ranks and their launcher wrote."""

from ..allowed import whole
from ..comm.checked import known_rank


def log(cluster, rank=None, lines=40):
    """What was written on it last, as text: by the engines' launcher (errors of MPI, last words of a rank that died), and by
    the ranks in the last run.

    Parameters
    ----------
    rank : int, optional
        Only what this rank printed. Else all, each rank's lines with "rank 0: " before them.
    lines : int
        So many of each at most, the last ones.

    Returns
    -------
    str
        Ranks that are threads print where the notebook does, and have nothing here. What a launcher wrote goes with its
        ranks when they are stopped.

    Raises
    ------
    ValueError, TypeError
        There is no such rank; `lines` is no number of lines.

    Examples
    --------
    >>> from dtnn import Cluster
    >>> Cluster(2, launcher="threads").log()
    ''
    """
    lines = whole("lines", lines, 1)
    if rank is not None:
        known_rank(rank, cluster.ranks, "rank")
    started = cluster._started
    if started is None:
        return ""
    output = started.last.output if started.last is not None else {}
    if rank is not None:
        return "\n".join(output.get(rank, "").splitlines()[-lines:])
    written = getattr(getattr(started.crew, "processes", None), "log", str)()  # threads have no launcher
    printed = [f"rank {number}: {line}" for number in sorted(output) for line in output[number].splitlines()[-lines:]]
    return "\n".join([*written.splitlines()[-lines:], *printed])
