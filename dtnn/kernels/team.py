"""`Team`: the threads that help a thread with its kernels."""

import threading
import time
import weakref

import numpy as np

from .baton import ENDED, LINE, help_leader


class Team:
    """A leader, which is the thread that makes it, and threads that do their parts of its kernels (see `baton`).

    A helper that has found no work for some milliseconds sleeps until the leader wakes it.  The helpers end with the team.  Where
    they are missing, as in a process that was forked, the leader does everything.

    Parameters
    ----------
    size : int
        The leader counts.

    Attributes
    ----------
    box : ndarray of int64
        What `baton.do_all` takes.
    end : callable
        Ends the helpers; called when nobody needs the team any more.

    Examples
    --------
    >>> team = Team(2)
    >>> team.wake()
    """

    def __init__(self, size):
        room = np.zeros((size + 1) * LINE, np.int64)
        begin = -room.ctypes.data % (8 * LINE) // 8  # so that lines are those of the cache
        self.box, self.asleep = room[begin : begin + size * LINE], set()
        self.bells, threads = [threading.Event() for _ in range(1, size)], []
        for helper, bell in enumerate(self.bells, 1):
            arguments = self.box, helper, self.asleep, bell
            threads.append(threading.Thread(target=_help, args=arguments, name=f"dtnn-helper-{helper}", daemon=True))
            threads[-1].start()
        self.end = weakref.finalize(self, _end, self.box, self.bells, threads)

    def wake(self):
        """Wake the helpers that sleep."""
        if self.asleep:
            _ring(self.bells)


def _help(box, helper, asleep, bell):
    """What a helper does; it doesn't hold on to the team."""
    while not box[ENDED]:
        help_leader(box, helper)
        asleep.add(helper)
        bell.wait()
        bell.clear()
        asleep.discard(helper)


def _end(box, bells, threads):
    """No helper is in a kernel any more: at the end of the process the machine code is the first to go.

    A leader that is a daemon may still be at work then, and goes on alone.
    """
    box[ENDED] = 1
    _ring(bells)
    for thread in threads:
        while thread.is_alive() and thread.ident != threading.get_ident():
            time.sleep(0.0001)  # not join(), which makes up a thread for a leader that is just ending, and never forgets it


def _ring(bells):
    for bell in bells:
        bell.set()
