"""What a user asks of a cluster, checked before anything is started."""

import dataclasses
import difflib
import numbers
import operator
import os
import re
from dataclasses import dataclass

from .. import machine

LAUNCHERS = ("mpi", "threads")
MOST = 4096  # ranks or threads: a slip of the finger should not fill the memory
KEEP, LONGEST = 2 * 3600.0, 7 * 86_400.0  # seconds: what keep_alive=True means, and what it may be at most
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
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
    keep_alive: float = 0.0

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

    def plain(self):
        """Plain values, for a file; `Asked(**plain)` is the same again."""
        return dataclasses.asdict(self)


def asked(ranks=None, launcher="mpi", threads_per_rank=None, keep_alive=None):
    """The arguments, checked; a `ValueError` or `TypeError` says what is wrong with one."""
    found = Asked(_some(ranks, "ranks"), _known(launcher), _some(threads_per_rank, "threads_per_rank"), _seconds(keep_alive))
    if found.keep_alive and (found.launcher == "threads" or is_ready(found.launcher)):
        whose = "end with this process" if found.launcher == "threads" else "were started by somebody else"
        raise ValueError(f"keep_alive={keep_alive!r} can't be had here: these ranks {whose}; leave it out")
    return found


def _seconds(value):
    """A time limit in seconds, from a number or a text such as "90", "30m", "2h"; 0 for none."""
    if value is None or value is False:
        return 0.0
    if value is True:
        return KEEP
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", value) if isinstance(value, str) else None
    if not found and (isinstance(value, str) or not isinstance(value, numbers.Real)):
        raise ValueError(f'keep_alive={value!r} is no time; give seconds, or a text such as "30m", "2h", "1d"')
    seconds = float(found[1]) * UNITS[found[2]] if found else float(value)
    if not 0 < seconds <= LONGEST:
        raise ValueError(f"keep_alive={value!r} can't be: a cluster may outlive its notebook by some time, at most 7 days")
    return seconds


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
