"""`Injection`: faults that hold for what is begun within a ``with``, and how they travel with a job to its ranks."""

from contextvars import ContextVar
from functools import partial

from .comm.emulated import Emulated
from .comm.faults import check, in_words

_injected = ContextVar("what `with` has injected here", default=())
MANY = 1 << 20  # ranks: how many there will be isn't known yet


class Injection:
    """Settings of `Emulated` that hold for what is begun within the ``with``.

    >>> from dtnn.inject import straggler
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
    >>> from dtnn.inject import link
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
