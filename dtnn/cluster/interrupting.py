"""Where an interrupt may hit: in the job's own code, never in the middle of ours, or a lock stays locked for ever.

An exception out of nowhere between the taking of a lock and the `with` that gives it back loses the lock.  Python protects
its own `with lock`, but not one written in Python (Condition, Event, Numba's compiler lock, the import lock).  So before
raising, the stack of the rank is looked at, and if it is in such code the interrupt is tried again a little later; waits for
other ranks end at once anyway, since a communicator looks for interrupts by itself.
"""

import importlib
import logging
import os
import sys
import threading

from . import rank
from .rank import CLUSTER_FOLDER, COMM_FOLDER

AGAIN = 0.005  # seconds until an interrupt is tried again


def may_interrupt(frame):
    """Whether an exception may be raised in a frame: there is nothing but the job's code between it and `rank.do`.

    >>> may_interrupt(sys._getframe())
    False
    """
    guarded, within = _guarded(), (rank.do.__code__, rank.unpacked.__code__)
    while frame is not None:
        if frame.f_code in within:
            return True
        if frame.f_code.co_filename.startswith(guarded):
            return False
        frame = frame.f_back
    return False


def _guarded():
    numba = sys.modules.get("numba")
    numba = [os.path.dirname(numba.__file__) + os.sep] if numba else []
    standard = threading.__file__, importlib.__file__, os.path.dirname(logging.__file__) + os.sep, "<frozen importlib"
    return (COMM_FOLDER, CLUSTER_FOLDER, *standard, *numba)
