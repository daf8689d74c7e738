"""This user's clusters on this host, and an end to those that nobody needs any more."""

import contextlib
import json
import os
import platform
import time
from dataclasses import dataclass

from ..whole_file import whole_file
from . import folder, watchdog
from .watchdog import ALONE, CLIENT

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
        ranks = f"{self.ranks or '?'} rank{'s' * (self.ranks != 1)}"
        return f"{self.folder}  {ranks}, {len(self.processes)} processes, {age(self.started)} old, {whose}"


def sign(path, ranks, **more):
    """Note in a cluster's folder who started it, and what else a later client has to know."""
    _write(path, {**myself(), "ranks": ranks, "started": time.time(), "host": platform.node(), **more})


def myself():
    """How a cluster's folder calls this process."""
    return {"pid": os.getpid(), "born": born(os.getpid()), "place": place()}


def add(path, **more):
    """Add to, or change, what `sign` noted."""
    _write(path, {**signed(path), **more})


def _write(path, values):
    with whole_file(os.path.join(path, CLIENT)) as file:
        file.write(json.dumps(values).encode())


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


def ranks(count):
    """A number of ranks in words.

    >>> ranks(1), ranks(4)
    ('1 rank', '4 ranks')
    """
    return f"{count} rank{'s' * (count != 1)}"


def age(since, now=None):
    """How long ago a moment was, in words; "?" if it isn't known.

    >>> age(0.0, 59.0), age(0.0, 3700.0), age(0.0, 200_000.0)
    ('59 s', '1 h 1 min', '2 d 7 h')
    """
    if since is None:
        return "?"
    seconds = int(max(0.0, (time.time() if now is None else now) - since))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 1:
        return f"{seconds} s"
    if hours < 1:
        return f"{minutes} min"
    return f"{hours} h {minutes % 60} min" if days < 1 else f"{days} d {hours % 24} h"


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


def lives(pid, since):
    """Whether the process of that number that was born then still runs; one that only waits to be buried doesn't."""
    import psutil

    try:
        process = psutil.Process(pid)
        return process.create_time() == since and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def born(pid):
    """When a process was started; None if there is none."""
    import psutil

    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None


def place():
    """This host, and the container within it: what tells whether a process number means the same."""
    with contextlib.suppress(OSError):
        return f"{platform.node()} {os.readlink('/proc/self/ns/pid')}"
    return platform.node()


def _look(path, processes):
    values = signed(path)
    here = bool(processes) or values.get("place", place()) == place()
    ranks, started, host = (_as(kind, values.get(name)) for name, kind in (("ranks", int), ("started", float), ("host", str)))
    return Found(path, processes, client(path, values), here, ranks, started, host or (platform.node() if here else ""))


def _as(kind, value):
    """A value if it is of that kind; what somebody else wrote in its place is not known."""
    return value if isinstance(value, kind) else None


def client(path, values):
    """The process that started a cluster, if it lives; where that isn't written, the folder's name has its number."""
    if isinstance(values.get("pid"), int) and isinstance(values.get("born"), float):
        return values["pid"] if lives(values["pid"], values["born"]) else None
    number = os.path.basename(path)[1:].split("-")[0]
    return int(number) if number.isdecimal() and born(int(number)) is not None else None


def signed(path):
    """What `sign` wrote; nothing if it didn't, or if it isn't that."""
    return read(os.path.join(path, CLIENT))


def read(path):
    """The values of a JSON file; nothing if there is none, or if it is damaged."""
    with contextlib.suppress(OSError, ValueError, RecursionError), open(path) as file:
        values = json.load(file)
        if isinstance(values, dict):
            return values
    return {}
