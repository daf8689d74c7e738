"""Traces in a file for https://ui.perfetto.dev or chrome://tracing, which can be read at any moment while it grows."""

import json
import threading
import time

from .. import allowed
from ..records import Start, Trace
from ..whole_file import whole_file
from .events import Events

PERIOD = 0.25  # seconds between two writes, at least ...
SHARE = 0.05  # ... and no more than this share of the time is spent writing


class TraceFile:
    """A file of events that is always whole: it is written anew under another name, which then becomes its own.

    So it can be opened in Perfetto during a run, and after a kill it is as it was written last. (To overwrite the closing
    brackets in place would be quicker, and was tried: a kill may come between two pages of a write.)

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
        self.path, self.rank, self.events, self.size = path, rank, Events(rank), 1
        self.text, self.whole, self.next = bytearray(), False, 0.0
        self.flush()

    def write(self, record):
        """Take in a record; it is in the file after the next `flush`; `write` flushes by itself, a few times a second."""
        if isinstance(record, Start):
            self.size = record.ranks
        for event in self.events.of(record):
            self.text += b",\n" if self.text else b"\n"
            self.text += json.dumps(event).encode()
            self.whole = False
        self.flush(now=False)

    def flush(self, now=True):
        """Have everything in the file; not `now`: unless that was done only a moment ago."""
        begin = time.monotonic()
        if self.whole or (begin < self.next and not now):
            return
        told = {"rank": self.rank or 0, "world_size": self.size}
        with whole_file(self.path) as file:
            file.write(b'{"displayTimeUnit": "ms", "distributedInfo": ' + json.dumps(told).encode() + b', "traceEvents": [')
            file.write(self.text)
            file.write(b"\n]}\n")
        end, self.whole = time.monotonic(), True
        self.next = end + max(PERIOD, (end - begin) / SHARE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.flush()


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
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save([Trace(rank, 7, 20.0, 0.002, [], [], 0.0) for rank in range(2)], f"{folder}/rank_{{rank}}.json")
    ...     sorted(os.listdir(folder))
    ['rank_0.json', 'rank_1.json']
    """
    records = allowed.listed("records", records, "records, such as run.records")
    if ranks is None:
        ranks = 1 + max((record.rank for record in records if isinstance(record, Trace)), default=0)
    _write(records, _files(path, ranks))


def follow(run, path):
    """Write the traces of a run, and while it goes on those that come; returns at once.

    Parameters
    ----------
    run : Run
    path : path
        As for `save`.
    """
    if not hasattr(run, "records") or not hasattr(run, "done"):
        raise TypeError(f"run={allowed.shown(run)}: give a Run, as model.start(...) returns it")
    if run.done:
        save(run.records, path, run.size)
        return
    files = _files(path, run.size)
    threading.Thread(target=_follow, args=(run, files), name="dtnn trace file", daemon=True).start()


def _follow(run, files):
    """Write what is new, a few times a second, until the run has ended; how it ended is told by the run."""
    seen, ended = 0, False
    while not ended:
        ended = run.wait(PERIOD)
        new = run.records[seen:]
        seen += len(new)
        _write(new, files, last=ended)


def _write(records, files, last=True):
    for file in files:
        for record in records:
            file.write(record)
        file.flush(last)


def _files(path, ranks):
    path = allowed.path("path", path)
    if "{rank}" not in path:
        return [TraceFile(path)]
    return [TraceFile(path.replace("{rank}", str(rank)), rank) for rank in range(ranks)]
