"""`tried`: a function on ranks that are threads, for a limited time, and ended before that if somebody asks."""

import ctypes
import sys
import threading
import time

from ..comm import run_threads

LOOK = 0.02  # seconds between two looks whether it is to end
GRACE = 0.5  # seconds that ranks have to end
OURS = (__package__.rpartition(".")[0] + ".comm", "threading")  # an exception out of nowhere there would leave locks taken


class Ended(Exception):
    """It was ended by who had begun it."""


def tried(function, ranks, seconds, ending=None):
    """What `run_threads` returns or raises, if that comes within some seconds; else all ranks are interrupted.

    Parameters
    ----------
    function : callable
        ``function(comm)``.
    ranks : int
    seconds : float
    ending : threading.Event, optional
        When somebody sets it, that is the end.

    Raises
    ------
    TimeoutError
        It has not ended. A rank that is in no call of the communicator's, nor in Python, is left to end with the process.
    Ended
        `ending` was set.
    Exception
        What a rank raised.

    Examples
    --------
    >>> tried(lambda comm: comm.Allreduce(comm.rank + 1), 3, seconds=5)
    [6, 6, 6]
    """
    seats, outcome, over = {}, [], threading.Event()

    def seated(comm):
        seats[threading.get_ident()] = comm
        try:
            return function(comm)
        finally:
            del seats[threading.get_ident()]

    def work():
        try:
            outcome.append((run_threads(seated, ranks), None))
        except BaseException as error:
            outcome.append((None, error))
        over.set()

    threading.Thread(target=work, name="trial", daemon=True).start()
    until = time.monotonic() + seconds
    while not over.wait(LOOK):
        asked = ending is not None and ending.is_set()
        if asked or time.monotonic() > until:
            _interrupt(seats, over)
            raise (
                Ended
                if asked
                else TimeoutError(f"it has not ended after {seconds:g} s; does it wait for something, or loop for ever?")
            )
    value, error = outcome[0]
    if error is not None:
        raise error
    return value


def _interrupt(seats, over):
    """End the waits of all ranks, and where one is in the user's own Python, that."""
    until = time.monotonic() + GRACE
    for comm in list(seats.values())[:1]:
        comm.interrupt()
    while not over.wait(LOOK) and time.monotonic() < until:
        frames = sys._current_frames()
        for thread in list(seats):
            if thread in frames and not frames[thread].f_globals.get("__name__", "").startswith(OURS):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
