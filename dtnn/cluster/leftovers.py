"""This user's clusters on this host, and an end to those that nobody needs any more."""

import contextlib
import os
import platform
import time
from dataclasses import dataclass

from ..phrases import age, ranks
from . import folder, watchdog
from .signature import client, place, read, signed
from .watchdog import ALONE

OLD = 86_400.0  # seconds


@dataclass(frozen=True)
class Found:
    """A cluster that is running, or what is left of one.

    Parameters
    ----------
    folder : str
        Its private folder, by whose path its processes are known.
    processes : list of int
    client : int or None
        The process that started it, if it still lives.
    here : bool
        Whether it was started on this host (and in this container), so that its processes can be seen.
    ranks : int or None
    started : float or None
        Seconds since 1970.
    host : str
        Where it was started.
    """

    folder: str
    processes: list
    client: int | None
    here: bool
    ranks: int | None
    started: float | None
    host: str = ""

    @property
    def kept_until(self):
        """Until when it goes on without its client (seconds since 1970); None if it has one, or may not go on."""
        if not self.here or self.client:
            return None
        until = read(os.path.join(self.folder, ALONE)).get("until")
        return until if isinstance(until, float) and until > time.time() else None

    @property
    def orphan(self):
        """Whether nobody can need it any more."""
        return self.here and self.client is None and self.kept_until is None

    @property
    def state(self):
        """ "in use", "kept until 14:05", "left behind", or "of another host", whose processes can't be seen from here."""
        if not self.here:
            return "of another host"
        if self.kept_until:
            return f"kept until {time.strftime('%H:%M', time.localtime(self.kept_until))}"
        return "in use" if self.client else "left behind"

    def __str__(self):
        whose = f"in use by process {self.client}" if self.here and self.client else self.state
        size = ranks(self.ranks) if self.ranks else "? ranks"
        return f"{self.folder}  {size}, {len(self.processes)} processes, {age(self.started)} old, {whose}"


def found():
    """All of this user's clusters on this host, running or left behind.

    Returns
    -------
    list of Found
        The oldest first.
    """
    processes = processes_by_folder()
    paths = set(processes) | {path for place in folder.places() for path in folder.clusters(place)}
    return sorted((_look(path, processes.get(path, [])) for path in paths), key=lambda cluster: cluster.started or 0.0)


def table(clusters, now=None):
    """A line for each of these clusters under a head, for a terminal; what is known of none is "?".

    Examples
    --------
    >>> print(table([Found("/run/user/1000/dtnn/c12-ab", [12, 13], 11, True, 2, 0.0, "lab7")], now=7300.0))
     client  ranks        age  host  state   folder
         11      2  2 h 1 min  lab7  in use  /run/user/1000/dtnn/c12-ab
    """
    rows = [("client", "ranks", "age", "host", "state", "folder")]
    for cluster in clusters:
        told = cluster.client or "?", cluster.ranks or "?", age(cluster.started, now), cluster.host or "?", cluster.state
        rows.append((*map(str, told), cluster.folder))
    widths = [max(map(len, column)) for column in zip(*rows)]
    numbers = 3  # columns that stand right
    cells = [[cell.rjust(w) if i < numbers else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths))] for row in rows]
    return "\n".join(f" {'  '.join(row)}".rstrip() for row in cells)


def clean(everything=False):
    """End what is left of clusters whose client is gone; with `everything`, all of this user's clusters on this host.

    Returns
    -------
    list of Found
        What was ended and removed.
    """
    forget_old_words()
    ended = [cluster for cluster in found() if cluster.orphan or (everything and cluster.here)]
    for cluster in ended:
        watchdog.clean_up(cluster.folder)
    return ended


def forget_old_words():
    """Remove what watchdogs have noted for kernels that never came: after a day nobody wants to know any more."""
    for name in os.listdir(folder.place()):
        path = os.path.join(folder.place(), name)
        with contextlib.suppress(OSError):
            if name.startswith(watchdog.NOTE) and time.time() - os.stat(path).st_mtime > OLD:
                os.unlink(path)


def processes_by_folder():
    """The processes of this user's clusters."""
    import psutil

    by_folder = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if not hasattr(os, "getuid") or process.uids().real == os.getuid():
                path = process.environ().get(watchdog.VARIABLE)
                if path:
                    by_folder.setdefault(path, []).append(process.pid)
    return by_folder


def _look(path, processes):
    values = signed(path)
    here = bool(processes) or values.get("place", place()) == place()
    size, started, host = (_as(kind, values.get(name)) for name, kind in (("ranks", int), ("started", float), ("host", str)))
    return Found(path, processes, client(path, values), here, size, started, host or (platform.node() if here else ""))


def _as(kind, value):
    """A value if it is of that kind; what somebody else wrote in its place is not known."""
    return value if isinstance(value, kind) else None
