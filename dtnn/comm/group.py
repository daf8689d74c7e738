"""Ranks that are threads of this process, begun and waited for."""

import threading
import traceback

from ..allowed import shown, whole
from .room import Room
from .threads import Threads

MOST = 4096  # ranks: more threads than a process can have on many systems


def group(size):
    """The communicators of `size` ranks that can talk to each other; each is for one thread.

    A group serves one run.  A rank that ends should say so (`leave`), or the others' waits for it never end; `run_threads`
    does.

    Raises
    ------
    ValueError
        `size` is no whole number from 1 to 4096.

    Examples
    --------
    >>> [comm.rank for comm in group(3)]
    [0, 1, 2]
    """
    room = Room(whole("size", size, 1, MOST))
    return [Threads(room, rank) for rank in range(room.size)]


def run_threads(function, size, *args):
    """Call `function(comm, *args)` on `size` ranks, each in a thread of its own, and return their results in order of rank.

    When a rank raises, the others' waits end with `RankFailed`, and the exception that came first is raised here; its
    attribute `rank` says whose it was.  An interrupt (Ctrl-C) of the calling thread interrupts all ranks.

    Examples
    --------
    >>> run_threads(lambda comm: comm.Allreduce(comm.rank + 1), 3)
    [6, 6, 6]
    """
    if not callable(function):
        raise TypeError(f"a job is a function that takes a communicator, not {shown(function)}; pass the function itself")
    comms = group(size)
    results, failures, ended = [None] * size, [], [threading.Event() for _ in comms]
    for comm in comms:
        arguments = (function, comm, args, results, failures, ended[comm.rank])
        threading.Thread(target=_run_one, args=arguments, name=f"rank {comm.rank}", daemon=True).start()
    _wait_for_all(ended, comms)
    if failures:
        rank, error = failures[0]
        error.rank = rank
        raise error
    return results


def _run_one(function, comm, args, results, failures, ended):
    try:
        results[comm.rank] = function(comm, *args)
    except BaseException as error:
        failures.append((comm.rank, error))
        comm.fail(traceback.format_exc())
    finally:
        comm.leave()
        ended.set()


def _wait_for_all(ended, comms):
    """Events, since an interrupted `Thread.join` takes a running thread for stopped (Python 3.11)."""
    try:
        for event in ended:
            while not event.wait(0.5):  # with a limit, or an interrupt would not be seen on every system
                pass
    except KeyboardInterrupt:
        comms[0].interrupt()
        for event in ended:
            event.wait(5.0)
        raise
