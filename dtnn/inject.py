"""Faults on purpose: a slow rank, a slow network, a lost or damaged message, for whatever is begun within the ``with``.

    with dtnn.inject.straggler(rank=1, factor=2.0):
        model.fit(digits, cluster=cluster)

A setting travels with the job to its ranks, whatever they are: threads, engines, or this process. There each rank's communicator
is wrapped in `dtnn.comm.emulated.Emulated`; nothing is left behind on the cluster. Settings nest, and add up. A training says
what was injected in its `Start` record, and in a note.
"""

import math

from . import allowed
from .injection import Injection, affected, around, run_under, wrapped

__all__ = ["Injection", "affected", "around", "damaged", "link", "lost", "run_under", "straggler", "wrapped"]

LARGE = 1024  # bytes of a message that counts: an array of weights or gradients, no decision of a few numbers


def straggler(rank=1, factor=2.0):
    """A rank that computes slower: it sleeps `factor` - 1 times as long as it computed, before it communicates.

    The ranks that wait for it lose as much time: in the ledger its computing becomes their wait.

    Parameters
    ----------
    rank : int
        Which one.
    factor : float
        How many times as long its computing takes, 1 or more.

    Returns
    -------
    Injection

    Raises
    ------
    ValueError, TypeError
        No such factor or rank. Whether the cluster has the rank is seen where the job begins.

    Examples
    --------
    >>> import time
    >>> from dtnn import Cluster
    >>> def wait(comm):
    ...     time.sleep(0.05)  # work
    ...     begin = time.perf_counter()
    ...     comm.Barrier()
    ...     return time.perf_counter() - begin
    >>> with Cluster(2, launcher="threads") as cluster, straggler(rank=1, factor=3):
    ...     cluster.run(wait).result() > 0.08  # rank 0's wait
    True
    """
    return Injection(
        slow={allowed.whole("rank", rank): allowed.number("factor", factor, "a number of at least 1, such as 2", None)}
    )


def link(latency=0.0, bandwidth=None, rank=None):
    """A slow network between the ranks.

    Parameters
    ----------
    latency : float
        Seconds that each message takes longer: 5e-5 is a plain Ethernet, 0.03 another city.
    bandwidth : float, optional
        Bytes a second of each rank's link: 125e6 is 1 Gbit/s. Left out, no limit.
    rank : int, optional
        Only this rank's link is slow; left out, all are.

    Returns
    -------
    Injection

    Raises
    ------
    ValueError, TypeError
        Negative latency, bandwidth not above 0, or no such rank.

    Notes
    -----
    A collective of the library takes as much longer as Rabenseifner's algorithm would; the algorithms of
    `dtnn.comm.collectives` show what their own messages cost.

    Examples
    --------
    >>> link(latency=0.001, bandwidth=125e6)
    Injection(each message takes 0.001 s longer; links carry 125,000,000 bytes/s)
    """
    latency = allowed.number("latency", latency, "seconds, such as 0.001", None)
    if bandwidth is not None:
        bandwidth = allowed.number("bandwidth", bandwidth, "bytes a second, such as 125e6", None)
    return Injection(latency=latency, bandwidth=bandwidth, only=None if rank is None else allowed.whole("rank", rank))


def lost(rank=1, number=10, smallest=LARGE, patience=5.0):
    """A message that never arrives: all that wait for it wait for ever, as on a real network without a time limit.

    The rank gives up after some seconds, and the run fails with `MessageLost`, which names the message. Where it is lost between
    two ranks (`AllReduce("ring")`), so that all wait for each other, that is noticed at once on threads, after a second on MPI.

    Parameters
    ----------
    rank : int
        Whose message.
    number : int
        Which of its messages, counted from 0. A collective of the library counts as one.
    smallest : int
        Messages of fewer bytes don't count.
    patience : float
        Seconds after which the rank gives up.

    Returns
    -------
    Injection

    Raises
    ------
    ValueError, TypeError
        No such rank or number.

    Examples
    --------
    >>> lost(rank=1, number=3)
    Injection(message 3 of rank 1 is lost)
    """
    message = allowed.whole("rank", rank), allowed.whole("number", number)
    wanted = "seconds, more than 0 and not without end, such as 5"
    patience = allowed.number("patience", patience, wanted, lambda x: 0 < x < math.inf)
    return Injection(lose=message, smallest=allowed.whole("smallest", smallest), patience=patience)


def damaged(rank=1, number=10, smallest=LARGE):
    """A message of which one bit arrives wrong: the replicas differ from then on, which a training notices and tells.

    Parameters
    ----------
    rank : int
        Who sends it; of a collective of the library, whose result is wrong.
    number : int
        Which of its messages, counted from 0.
    smallest : int
        Messages of fewer bytes don't count.

    Returns
    -------
    Injection

    Raises
    ------
    ValueError, TypeError
        No such rank or number.

    Examples
    --------
    >>> damaged(rank=0, number=7)
    Injection(message 7 of rank 0 is damaged)
    """
    return Injection(
        damage=(allowed.whole("rank", rank), allowed.whole("number", number)), smallest=allowed.whole("smallest", smallest)
    )
