"""One line that says what a wait is for, when it takes over a second, and goes away with it."""

import contextlib
import sys
import threading
import time

from .. import allowed
from ..shell import in_kernel

FIRST, PERIOD = 1.0, 0.5  # seconds until the line appears, and between its updates


@contextlib.contextmanager
def waiting(show=None):
    """Within it, the yielded function takes the text of what is waited for; `show` gets it when that takes over 1 s.

    Parameters
    ----------
    show : callable, None or False
        Takes each line, and "" when the wait is over.  None: a line on the terminal or in the notebook, if this is one.

    Examples
    --------
    >>> with waiting(print) as waits:
    ...     waits("something quick")
    """
    show = _line_for_here() if show is None else show or _nowhere
    said, over = [""], threading.Event()
    ticker = threading.Thread(target=_tick, args=(show, said, over), daemon=True)
    ticker.start()
    try:
        yield lambda text: said.__setitem__(0, text)
    finally:
        over.set()
        ticker.join(1.0)


def say(show, text):
    """Tell something that is worth a line of its own: where `waiting` would show its line, but this one stays.

    >>> say(print, "used again")
    used again
    >>> say(print, "")
    """
    show = _line_for_here() if show is None else show or _nowhere
    if text:
        show(text + "\n" * (show is _terminal_line))


def ready(crew, show):
    """Ranks that have been started, in words about what that waits for."""
    with waiting(show) as waits:
        crew.start(waits)
    return crew


def known(on_wait):
    """`on_wait` if it is somewhere to show a line, None or False, else a `TypeError` that says what may be."""
    if on_wait not in (None, False) and not callable(on_wait):
        raise TypeError(f"on_wait={allowed.shown(on_wait)}: give a function of a line of text, False for silence, or nothing")
    return on_wait


def _tick(show, said, over):
    began, shown = time.monotonic(), False
    pause = FIRST
    while not over.wait(pause):
        show(f"waiting for {said[0]} ({time.monotonic() - began:.0f} s)")
        pause, shown = PERIOD, True
    if shown:
        show("")


def _line_for_here():
    if in_kernel() is not None:
        return _NotebookLine()
    return _terminal_line if getattr(sys.stderr, "isatty", lambda: False)() else _nowhere


def _terminal_line(text):
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


class _NotebookLine:
    """One output of the cell that waits, made when there is something to say."""

    handle = None

    def __call__(self, text):
        from IPython.display import Markdown, display

        if self.handle is None:
            self.handle = display(Markdown(text), display_id=True)
        else:
            self.handle.update(Markdown(text))


def _nowhere(_):
    pass
