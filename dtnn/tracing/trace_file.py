"""Traces in a file for https://ui.perfetto.dev or chrome://tracing, which can be read at any moment while it grows."""

import contextlib
import json
import os
import threading
import time

from ..records import Start, Trace
from .events import Events

PERIOD = 0.25  # seconds between two writes, at most
HEAD = b'{"traceEvents": ['


class TraceFile:
    """A file of events that is always whole: each write replaces the closing brackets by new events and brackets, at once.

    So it can be opened in Perfetto during a run, and what is left after a kill is good up to the last write.

    Parameters
    ----------
    path : path
        Replaced if it is there.
    rank : int, optional
        Only this rank's events, as tools want them that compare ranks; all in one file if left out.

    Raises
    ------
    OSError
        The file can't be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with TraceFile(f"{folder}/trace.json") as file:
    ...         file.write(Trace(0, 7, 20.0, 0.002, [], [], 0.0))
    ...     with open(f"{folder}/trace.json") as text:
    ...         json.load(text)["traceEvents"][-1]["name"]
    'ProfilerStep#7'
    """

    def __init__(self, path, rank=None):
        self.rank, self.events, self.size = rank, Events(rank), 1
        self.file = open(os.path.expanduser(os.fspath(path)), "wb", buffering=0)  # noqa: SIM115
        self.file.write(HEAD + self._foot())
        self.place, self.waiting, self.next = len(HEAD), [], 0.0

    def write(self, record):
        """Take in a record; it is in the file after the next `flush`, which comes by itself every quarter of a second."""
        if isinstance(record, Start):
            self.size = record.ranks
        self.waiting += self.events.of(record)
        if time.monotonic() > self.next:
            self.flush()

    def flush(self):
        """Write what has not been written."""
        if self.waiting:
            self.next = time.monotonic() + PERIOD
            comma = b"," if self.place > len(HEAD) else b""
            events = comma + b",".join(b"\n" + json.dumps(event).encode() for event in self.waiting)
            self.file.seek(self.place)
            self.file.write(events + self._foot())
            self.place, self.waiting = self.place + len(events), []

    def close(self):
        """Write the rest; nothing more can be written."""
        if not self.file.closed:
            self.flush()
            self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _foot(self):
        told = {"rank": self.rank or 0, "world_size": self.size}
        return b'\n], "displayTimeUnit": "ms", "distributedInfo": ' + json.dumps(told).encode() + b"}\n"


def save(records, path, ranks=None):
    """Write all traces of a run.

    Parameters
    ----------
    records : iterable of records
    path : path
        With ``{rank}`` in the name there is a file for each rank, as tools want that compare ranks; else one for all.
    ranks : int, optional
        How many there are, if `records` don't say so.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save([Trace(rank, 7, 20.0, 0.002, [], [], 0.0) for rank in range(2)], f"{folder}/rank_{{rank}}.json")
    ...     sorted(os.listdir(folder))
    ['rank_0.json', 'rank_1.json']
    """
    records = list(records)
    if ranks is None:
        ranks = 1 + max((record.rank for record in records if isinstance(record, Trace)), default=0)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(file) for file in _files(path, ranks)]
        _write(records, files)


def follow(run, path):
    """Write the traces of a run, and while it goes on those that come; returns at once.

    Parameters
    ----------
    run : Run
    path : path
        As for `save`.
    """
    if run.done:
        save(run.records, path, run.size)
        return
    files = _files(path, run.size)
    threading.Thread(target=_follow, args=(run, files), name="dtnn trace file", daemon=True).start()


def _follow(run, files):
    with contextlib.ExitStack() as stack, contextlib.suppress(Exception):  # how the run ended is told by the run
        for file in files:
            stack.enter_context(file)
        _write(run, files)


def _write(records, files):
    for record in records:
        for file in files:
            file.write(record)


def _files(path, ranks):
    path = os.fspath(path)
    if "{rank}" not in path:
        return [TraceFile(path)]
    return [TraceFile(path.replace("{rank}", str(rank)), rank) for rank in range(ranks)]
