"""Faults on purpose: a slow rank, a slow network, a lost or damaged message, for whatever is begun within the ``with``.

    with dtnn.inject.straggler(rank=1, factor=2.0):
        model.fit(digits, cluster=cluster)

A setting travels with the job to its ranks, whatever they are: threads, engines, or this process. There each rank's communicator
is wrapped in `dtnn.comm.emulated.Emulated`; nothing is left behind on the cluster. Settings nest, and add up. A training says
what was injected in its `Start` record, and in a note.
"""

import math
from contextvars import ContextVar
from functools import partial

from . import allowed
from .comm.emulated import Emulated
from .comm.faults import check, in_words

_injected = ContextVar("what `with` has injected here", default=())
MANY = 1 << 20  # ranks: how many there will be isn't known yet
LARGE = 1024  # bytes of a message that counts: an array of weights or gradients, no decision of a few numbers


def straggler(rank=1, factor=2.0):
    """A rank that computes slower: it sleeps `factor` - 1 times as long as it computed, before it communicates.

    The ranks that wait for it lose as much time: in the ledger its computing becomes their wait.

    Parameters
    ----------
    rank : int
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
    Injection(each message takes 0.001 s longer; links carry 1.25e+08 bytes/s)
    """
    latency = allowed.number("latency", latency, "seconds, such as 0.001", None)
    if bandwidth is not None:
        bandwidth = allowed.number("bandwidth", bandwidth, "bytes a second, such as 125e6", None)
    return Injection(latency=latency, bandwidth=bandwidth, only=None if rank is None else allowed.whole("rank", rank))


def lost(rank=1, number=10, smallest=LARGE, patience=5.0):
    """A message that never arrives: all that wait for it wait for ever, as on a real network without a time limit.

    The rank gives up after some seconds, and the run fails with `MessageLost`, which names the message. Only where it is lost
    between two ranks that are threads (`AllReduce("ring")`), the deadlock is noticed at once, and told.

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


class Injection:
    """Settings of `Emulated` that hold for what is begun within the ``with``.

    >>> with straggler(rank=1, factor=2.0) as injected:
    ...     injected.text
    'rank 1 computes 2 times as long'
    """

    def __init__(self, smallest=0, patience=5.0, **settings):
        check(MANY, **settings)
        self.settings = {**settings, "smallest": smallest, "patience": patience}
        self.text = "; ".join(in_words(**settings)) or "nothing"

    def __enter__(self):
        _injected.set((*_injected.get(), self))
        return self

    def __exit__(self, *_):
        last_of_these = max(place for place, one in enumerate(_injected.get()) if one is self)
        _injected.set(tuple(one for place, one in enumerate(_injected.get()) if place != last_of_these))

    def __repr__(self):
        return f"Injection({self.text})"


def around(comm):
    """The communicator with all that is injected here.

    >>> from dtnn.comm import Serial
    >>> with link(latency=0.001):
    ...     around(Serial()).faults
    ('each message takes 0.001 s longer',)
    """
    return wrapped(comm, _settings(comm.size))


def affected(job, ranks):
    """A job for `ranks` ranks that takes with it what is injected here; the job itself, if that is nothing.

    Raises
    ------
    ValueError
        What is injected is about a rank that there isn't.

    Examples
    --------
    >>> affected(len, 2) is len
    True
    """
    settings = _settings(ranks)
    return partial(run_under, settings, job) if settings else job


def run_under(settings, job, comm, *args, **kwargs):
    """The job, on a rank whose communicator has these faults.

    >>> from dtnn.comm import Serial
    >>> run_under([{"latency": 0.001}], lambda comm, more: (len(comm.faults), more), Serial(), "yes")
    (1, 'yes')
    """
    return job(wrapped(comm, settings), *args, **kwargs)


def wrapped(comm, settings):
    """A communicator with faults, the first one innermost.

    >>> from dtnn.comm import Serial
    >>> wrapped(Serial(), [{"latency": 0.001}]).faults
    ('each message takes 0.001 s longer',)
    """
    for one in settings:
        comm = Emulated(comm, **one)
    return comm


def _settings(ranks):
    """The settings of all that is injected here, checked."""
    found = [injection.settings for injection in _injected.get()]
    for settings in found:
        check(ranks, **{name: value for name, value in settings.items() if name not in ("smallest", "patience")})
    return found
