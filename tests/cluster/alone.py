"""A temporary folder of a test's own, by which everything is found that it has started or made, and not removed."""

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

PATIENCE = 5.0  # seconds that processes which end by themselves may take, such as a watchdog


@contextlib.contextmanager
def alone(monkeypatch):
    """Within it, temporary files and folders of clusters are in a place of their own; at its end nothing must be left.

    No process (whoever was its parent, whatever its group: all inherit the name of the place), no file in it (of MPI, of
    ipyparallel, of ours: sockets bound to a name are files, too), no file in ``/dev/shm`` that no process uses, no socket
    that is still open here.
    """
    place, memory, sockets = tempfile.mkdtemp(prefix="dtnn-test-"), unused_memory(), open_sockets()
    monkeypatch.setenv("TMPDIR", place)
    monkeypatch.setattr(tempfile, "tempdir", place)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    try:
        yield Path(place)
        until = time.monotonic() + PATIENCE
        while processes(place) and time.monotonic() < until:
            time.sleep(0.05)
        assert processes(place) == {}
        assert files(place) == []
        assert unused_memory() - memory == set()
        assert open_sockets() <= sockets
    finally:
        shutil.rmtree(place, ignore_errors=True)


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


def unused_memory():
    """Files in /dev/shm that no process has mapped or open: somebody has left them behind."""
    names = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    for number in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            names -= {line.rpartition("/")[2].strip() for line in open(f"/proc/{number}/maps") if "/dev/shm/" in line}
    return names


def open_sockets():
    """How many this process has."""
    count = 0
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            count += os.readlink(f"/proc/self/fd/{number}").startswith("socket:")
    return count
