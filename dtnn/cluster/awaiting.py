"""How a run is waited for: the methods of `Run` that return when it has ended, or are called then."""

import asyncio
import threading
import time

from ..allowed import number, shown
from .layer_names import SECONDS

VIEW = 0.1  # seconds between two looks of who waits at what shows the run


def wait(run, timeout=None):
    """Wait until it has ended, at most `timeout` seconds; whether it has. What the run raised, it does not."""
    if timeout is not None:
        timeout = number("timeout", timeout, SECONDS, None)
    if threading.current_thread() is not threading.main_thread():
        return run._ended.wait(timeout)
    until = time.monotonic() + (threading.TIMEOUT_MAX if timeout is None else timeout)
    while not run._ended.wait(max(0.0, min(VIEW, until - time.monotonic()))) and time.monotonic() < until:
        for view in list(run.views):
            view.update()
    return run.done


def in_a_notebook(run):
    """``await run`` in a notebook waits for its result and leaves the notebook free."""
    while not run.done:
        yield from asyncio.sleep(VIEW).__await__()
    return run.result()


def result(run, timeout=None):
    """What the job returned on rank 0, waited for.

    Parameters
    ----------
    timeout : float, optional
        Seconds to wait at most.

    Raises
    ------
    TimeoutError
        It goes on; the text says what it waits for.
    RunInterrupted
        It was interrupted before it had a result.
    RankDied
        The process of a rank went away.
    Exception
        What a rank raised, with that rank's traceback, and what the others waited for meanwhile, as its cause.
    """
    if not run.wait(timeout):
        doing = f"it waits for {run.waiting_for}" if run.waiting_for else f"it has told {len(run.records)} records"
        raise TimeoutError(f"the run goes on after {timeout} s: {doing}; run.stop() ends it")
    if run.error:
        raise run.error.with_traceback(None)
    return run.results[0]


def then(run, function):
    """Call `function(result)` when the run has a result, before anybody who waits for it goes on; returns the run.

    It is called in the thread that watches the run (at once, and here, if the run has ended).  What it raises,
    `result` raises.
    """
    if not callable(function):
        raise TypeError(f"then({shown(function)}): give a function of the result, such as print")
    with run._changed:
        if not run.done:
            run._callbacks.append(function)
            return run
    if not run.error:
        function(run.results[0])
    return run
