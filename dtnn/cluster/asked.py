"""What a user asks of a cluster, checked before anything is started."""

import dataclasses
import numbers
import os
import re
from dataclasses import dataclass

from .. import machine
from ..allowed import flag, one_of, whole
from .batch import Batch, batch_of
from .launchers import POOLS

LAUNCHERS = ("mpi", "threads", "slurm", "ssh")
MOST = 4096  # ranks or threads: a slip of the finger should not fill the memory
KEEP, LONGEST = 2 * 3600.0, 7 * 86_400.0  # seconds: what keep_alive=True means, and what it may be at most
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


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
    hosts: tuple = ()
    secure: bool = False
    batch: Batch = dataclasses.field(default_factory=Batch)

    @property
    def size(self):
        """Ranks to start."""
        return 2 if self.ranks is None else self.ranks

    @property
    def threads(self):
        """Threads a rank: what was asked for, what the user's environment says, or the cores of this host shared out."""
        if self.threads_per_rank is not None:
            return self.threads_per_rank
        if self.launcher == "slurm":
            return 1
        said = [os.environ[name] for name in POOLS if os.environ.get(name, "").isdecimal()]
        return max(1, int(said[0])) if said else machine.threads_per_rank(self.per_host)

    @property
    def elsewhere(self):
        """Whether hosts other than this one take part."""
        return self.launcher in ("slurm", "ssh")

    @property
    def per_host(self):
        """Ranks on a host, at most."""
        return max((int(place.rpartition(":")[2]) for place in self.places), default=self.size)

    @property
    def places(self):
        """Hosts with the number of ranks that each takes, for mpiexec: those without a number share what the others leave.

        >>> asked(3, hosts=["a", "b"]).places, asked(5, hosts=["a", "b:1", "c"]).places
        (['a:2', 'b:2'], ['a:2', 'b:1', 'c:2'])
        """
        taken = sum(int(host.partition(":")[2]) for host in self.hosts if ":" in host)
        free = sum(":" not in host for host in self.hosts)
        share = -(-max(0, self.size - taken) // max(1, free))
        return [host if ":" in host else f"{host}:{share}" for host in self.hosts if ":" in host or share]

    @property
    def kind(self):
        """The launcher in a word."""
        return self.launcher if isinstance(self.launcher, str) else type(self.launcher).__name__

    def plain(self):
        """Plain values, for a file; `again` makes the same of them."""
        return dataclasses.asdict(self)


def again(plain):
    """The `Asked` of these values."""
    batch = Batch(**plain["batch"])
    return Asked(**{**plain, "hosts": tuple(plain["hosts"]), "batch": batch})


def asked(ranks=None, launcher="mpi", threads_per_rank=None, keep_alive=None, hosts=None, secure=None, batch=None):
    """The arguments, checked; a `ValueError` or `TypeError` says what is wrong with one."""
    launcher, hosts, batch = _known(launcher), _hosts(hosts), batch_of(batch or {}, "Cluster")
    if hosts and launcher == "mpi":
        launcher = "ssh"
    _check_together(launcher, hosts, secure, keep_alive, batch)
    secure = launcher in ("slurm", "ssh") if secure is None else flag("secure", secure)
    numbers = _some(ranks, "ranks"), launcher, _some(threads_per_rank, "threads_per_rank")
    return Asked(*numbers, _seconds(keep_alive), hosts, secure, batch)


def _check_together(launcher, hosts, secure, keep_alive, batch):
    """What is asked for must make sense with the launcher."""
    if launcher == "ssh" and not hosts:
        raise ValueError('launcher="ssh" starts ranks on hosts: say which, hosts=["node1", "node2"]')
    if hosts and launcher != "ssh":
        raise ValueError(f'hosts={list(hosts)!r} go with launcher="ssh", not {launcher!r:.40}; leave them out, or use that')
    if batch != Batch() and launcher != "slurm":
        raise ValueError(f'account, partition, time, nodes and lines go with launcher="slurm", not {launcher!r:.40}')
    not_ours = launcher == "threads" or is_ready(launcher)
    whose = "end with this process" if launcher == "threads" else "were started by somebody else"
    for name, value in (("keep_alive", keep_alive), ("secure", secure)):
        if value and not_ours:
            raise ValueError(f"{name}={value!r} can't be had here: these ranks {whose}; leave it out")


def _hosts(hosts):
    """Names of hosts, each perhaps with a number of ranks, as "node1:4"."""
    if not isinstance(hosts, str | list | tuple | None):
        raise TypeError(f'hosts={hosts!r:.60} are no names of hosts; give a list such as ["node1", "node2:4"]')
    listed = (hosts,) if isinstance(hosts, str) else tuple(hosts or ())
    for host in listed:
        if not isinstance(host, str) or not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(:[1-9]\d*)?", host):
            raise ValueError(f'hosts: {host!r} is no name of a host; give a list such as ["node1", "node2:4"]')
    return listed


def _seconds(value):
    """A time limit in seconds, from a number or a text such as "90", "30m", "2h"; 0 for none."""
    if value is None or value is False:
        return 0.0
    if value is True:
        return KEEP
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", value) if isinstance(value, str) else None
    if not found and (isinstance(value, str) or not isinstance(value, numbers.Real)):
        raise ValueError(f'keep_alive={value!r} is no time; give seconds, or a text such as "30m", "2h", "1d"')
    seconds = float(found[1]) * UNITS[found[2]] if found else min(value, 2 * LONGEST)
    if not 0 < seconds <= LONGEST:
        raise ValueError(f"keep_alive={value!r} can't be: a cluster may outlive its notebook by some time, at most 7 days")
    return float(seconds)


def _known(name):
    if is_ready(name):
        return name
    if not isinstance(name, str):
        raise TypeError(
            f"launcher={name!r:.60} is none; give {', '.join(map(repr, LAUNCHERS))}, or an ipyparallel Cluster or Client"
        )
    return one_of("launcher", name.lower(), LAUNCHERS)


def is_ready(thing):
    """Whether it is an ipyparallel Cluster or Client."""
    return hasattr(thing, "connect_client_sync") or hasattr(thing, "ids")


def _some(value, name):
    """A number of things, or None where nothing was said."""
    return None if value is None else whole(name, value, 1, MOST)
