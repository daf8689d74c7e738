"""What all tests share: a limit of time, so that a deadlock is one red test and not a silent afternoon."""

import signal
import threading

import pytest

SECONDS = 60

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
