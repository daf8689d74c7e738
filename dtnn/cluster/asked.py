"""What a user asks of a cluster, checked before anything is started."""

import difflib
import operator
import os
from dataclasses import dataclass

from .. import machine

LAUNCHERS = ("mpi", "threads")
MOST = 4096  # ranks or threads: a slip of the finger should not fill the memory
THREAD_VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Asked:
    """The arguments of a `Cluster` that say what it is to be: equal ones ask for the same.

    Examples
    --------
    >>> asked(4) == asked(4, "MPI"), asked(4) == asked(2)
    (True, False)
    """

    ranks: int | None
    launcher: object
    threads_per_rank: int | None

    @property
    def size(self):
        """Ranks to start."""
        return 2 if self.ranks is None else self.ranks

    @property
    def threads(self):
        """Threads a rank: what was asked for, what the user's environment says, or the cores of this host shared out."""
        if self.threads_per_rank is not None:
            return self.threads_per_rank
        said = [os.environ[name] for name in THREAD_VARIABLES if os.environ.get(name, "").isdecimal()]
        return max(1, int(said[0])) if said else machine.threads_per_rank(self.size)

    @property
    def kind(self):
        """The launcher in a word."""
        return self.launcher if isinstance(self.launcher, str) else type(self.launcher).__name__


def asked(ranks=None, launcher="mpi", threads_per_rank=None):
    """The arguments, checked; a `ValueError` or `TypeError` says what is wrong with one."""
    return Asked(_some(ranks, "ranks"), _known(launcher), _some(threads_per_rank, "threads_per_rank"))


def _known(name):
    if is_ready(name):
        return name
    if not isinstance(name, str):
        raise TypeError(
            f"launcher={name!r:.60} is none; give {', '.join(map(repr, LAUNCHERS))}, or an ipyparallel Cluster or Client"
        )
    if name.lower() not in LAUNCHERS:
        near = difflib.get_close_matches(name.lower(), LAUNCHERS, 1, 0.3)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(LAUNCHERS)}"
        raise ValueError(f"no launcher is called {name!r}: {hint}")
    return name.lower()


def is_ready(thing):
    """Whether it is an ipyparallel Cluster or Client."""
    return hasattr(thing, "connect_client_sync") or hasattr(thing, "ids")


def _some(value, name):
    """A number of things, or None where nothing was said."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} is no whole number; ask for 1, 2, 3 ...") from None
    if isinstance(value, bool) or number < 1:
        raise ValueError(f"{name}={value!r} can't be; ask for 1 or more")
    if number > MOST:
        raise ValueError(f"{name}={value!r} is more than dtnn starts, {MOST}; ask for fewer")
    return number
