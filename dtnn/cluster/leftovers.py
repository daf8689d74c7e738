"""This user's clusters on this host, and an end to those that nobody needs any more."""

import contextlib
import json
import os
import platform
import time
from dataclasses import dataclass

from . import folder, watchdog

CLIENT = "client.json"  # file in a cluster's folder: who started it


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
    """

    folder: str
    processes: list
    client: int | None
    here: bool
    ranks: int | None
    started: float | None

    @property
    def orphan(self):
        """Whether nobody can need it any more."""
        return self.here and self.client is None

    def __str__(self):
        whose = "started elsewhere" if not self.here else f"of process {self.client}" if self.client else "left behind"
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.started)) if self.started else "?"
        return f"{self.folder}  {self.ranks or '?'} ranks, {len(self.processes)} processes, since {since}, {whose}"


def sign(path, ranks):
    """Note in a cluster's folder who started it."""
    values = {"pid": os.getpid(), "born": born(os.getpid()), "place": place(), "ranks": ranks, "started": time.time()}
    with open(os.path.join(path, CLIENT), "w") as file:
        json.dump(values, file)


def found():
    """All of this user's clusters on this host, running or left behind.

    Returns
    -------
    list of Found
    """
    processes, own = processes_by_folder(), folder.place()
    paths = set(processes) | {os.path.join(own, name) for name in os.listdir(own) if name.startswith("c")}
    return [_look(path, processes.get(path, [])) for path in sorted(paths)]


def clean(everything=False):
    """End what is left of clusters whose client is gone; with `everything`, all of this user's clusters on this host.

    Returns
    -------
    list of Found
        What was ended and removed.
    """
    ended = [cluster for cluster in found() if cluster.orphan or (everything and cluster.here)]
    for cluster in ended:
        watchdog.clean_up(cluster.folder)
    return ended


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
    values = _signed(path)
    here = bool(processes) or values.get("place", place()) == place()
    return Found(path, processes, _client(path, values), here, values.get("ranks"), values.get("started"))


def _client(path, values):
    """The process that started a cluster, if it lives; where that isn't written, the folder's name has its number."""
    if isinstance(values.get("pid"), int) and isinstance(values.get("born"), float):
        return values["pid"] if born(values["pid"]) == values["born"] else None
    number = os.path.basename(path)[1:].split("-")[0]
    return int(number) if number.isdecimal() and born(int(number)) is not None else None


def _signed(path):
    """What `sign` wrote; nothing if it didn't, or if it isn't that."""
    with contextlib.suppress(OSError, ValueError), open(os.path.join(path, CLIENT)) as file:
        values = json.load(file)
        if isinstance(values, dict):
            return values
    return {}
