"""A temporary folder of a test's own, by which everything is found that it has started or made, and not removed."""

import contextlib
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path
from unittest import mock

PATIENCE = 5.0  # seconds that processes which end by themselves may take, such as a watchdog


@contextlib.contextmanager
def alone():
    """Within it, temporary files and folders of clusters are in a place of their own; at its end nothing must be left.

    No process (whoever was its parent, whatever its group: all inherit the name of the place), no file in it (of MPI, of
    ipyparallel, of ours: sockets bound to a name are files, too), no file in ``/dev/shm`` that was seen in use by one of
    them, no socket that is still open here.
    """
    place, sockets = tempfile.mkdtemp(prefix="dtnn-test-"), open_sockets()
    memory, over = set(), threading.Event()
    looks = threading.Thread(target=_look, args=(place, memory, over), daemon=True)
    try:
        with mock.patch.dict(os.environ, TMPDIR=place), mock.patch.object(tempfile, "tempdir", place):
            os.environ.pop("XDG_RUNTIME_DIR", None)
            looks.start()
            yield Path(place)
        until = time.monotonic() + PATIENCE
        while processes(place) and time.monotonic() < until:
            time.sleep(0.05)
        left = {
            "processes": processes(place),
            "files": files(place),
            "shared memory": [path for path in memory if os.path.exists(path)],
            "sockets here": max(0, open_sockets() - sockets),
        }
        assert not any(left.values()), left
    finally:
        over.set()
        looks.join()
        shutil.rmtree(place, ignore_errors=True)


def _look(place, memory, over):
    """Now and then, which files in /dev/shm our processes use; others may use, and leave, some of their own meanwhile."""
    while not over.wait(0.3):
        for number in processes(place):
            with contextlib.suppress(OSError):
                maps = Path(f"/proc/{number}/maps").read_text().splitlines()
                memory |= {line.split(maxsplit=5)[5] for line in maps if "/dev/shm/" in line and "(deleted)" not in line}


def processes(place):
    """Those that have this place for temporary files in their environment: their command lines by their numbers."""
    found = {}
    for number in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            marks, here = Path("/proc", number, "environ").read_bytes().split(b"\0"), int(number) == os.getpid()
            if f"TMPDIR={place}".encode() in marks and not here:
                found[int(number)] = Path("/proc", number, "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def files(place):
    """What is in it, but for the empty folder in which those of clusters were."""
    return sorted(str(path.relative_to(place)) for path in Path(place).rglob("*") if path.name != f"dtnn-{os.getuid()}")


def open_sockets():
    """How many this process has."""
    count = 0
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            count += os.readlink(f"/proc/self/fd/{number}").startswith("socket:")
    return count
