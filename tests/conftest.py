"""What all tests share: a limit of time, so that a deadlock is one red test and not a silent afternoon; ranks to train on."""

import re
import signal
import sys
import threading
from pathlib import Path

import pytest

SECONDS = 120  # of a busy machine; it is there for what never ends

LONG = 300  # seconds: what may take so long, and waits while it does, is begun first where others run beside it

# Tests of these rooms start processes, or look at the clock; files and single tests elsewhere say so with the mark.
UNDISTURBED = [Path(__file__).parent / room for room in ("cluster", "comm", "notebooks")]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell has it that starts the tests in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # or what they start would be deaf, too


class TookTooLong(BaseException):
    """Not an Exception: code under test that catches everything must not swallow it."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Interrupt a test after its limit; `@pytest.mark.limit(seconds)` sets another one."""
    mark = item.get_closest_marker("limit")
    seconds = mark.args[0] if mark else SECONDS
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        return (yield)

    def stop(signum, frame):
        raise TookTooLong(f"{item.nodeid} took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return (yield)
    except TookTooLong as error:
        pytest.fail(str(error), pytrace=True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def pytest_collection_modifyitems(items):
    """Mark what nothing may run beside: those rooms, and what has MPI in its address or its fixtures, but not `processes`."""
    for item in items:
        over_mpi = re.search(r"(?i)(?<![a-z])mpi(?![a-z])", item.nodeid) or "engines" in getattr(item, "fixturenames", ())
        if (over_mpi or item.path.parent in UNDISTURBED) and not item.get_closest_marker("processes"):
            item.add_marker("undisturbed")
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid} has another name in each process: give its parameters ids without addresses")
    items.sort(key=_turn)


def _turn(item):
    """0 for all but what is begun first."""
    mark = item.get_closest_marker("limit")
    return -mark.args[0] if mark and mark.args[0] >= LONG and item.get_closest_marker("processes") else 0


running = []  # the test that runs here, where others run beside it


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Others run beside it where pytest-xdist has several workers, of which this process is one."""
    running[:] = [item] if hasattr(item.config, "workerinput") else []
    try:
        return (yield)
    finally:
        running.clear()


def refuse(event, arguments):
    """Let nobody forget the mark: ranks in other processes, and browsers, want the machine for themselves."""
    starts = event in ("subprocess.Popen", "os.fork", "os.posix_spawn")
    if starts and running and not running[0].get_closest_marker("processes"):
        pytest.fail(f"starts {arguments[1:2]}: mark the test with `undisturbed`, or `processes` if others may run beside it")


def pytest_configure(config):
    if hasattr(config, "workerinput"):
        sys.addaudithook(refuse)


@pytest.fixture(scope="module")
def engines(request):
    """A cluster of MPI engines for the tests of a file: two, or as many as its RANKS says."""
    from dtnn import Cluster
    from tests.comm.mpi_job import why_no_mpi

    if why_no_mpi():
        pytest.skip(why_no_mpi())
    with Cluster(getattr(request.module, "RANKS", 2), on_wait=False) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def whole(request):
    """Where a test leaves its engines dead, or at a run, as one that has failed may, the next test has new ones."""
    yield
    if "engines" in request.fixturenames:
        left = request.getfixturevalue("engines")
        if left.state != "running" or (left.last_run is not None and not left.last_run.done):
            left.restart()


@pytest.fixture(params=["threads", "mpi"])
def cluster(request):
    """The same test on ranks as threads, and on the file's MPI engines."""
    from dtnn import Cluster

    if request.param == "mpi":
        yield request.getfixturevalue("engines")
    else:
        with Cluster(getattr(request.module, "RANKS", 2), launcher="threads", on_wait=False) as started:
            yield started
