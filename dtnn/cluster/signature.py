"""Who started a cluster, noted in its folder, and whether that process still lives."""

import contextlib
import json
import os
import platform
import time

from ..whole_file import whole_file
from .watchdog import CLIENT


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
