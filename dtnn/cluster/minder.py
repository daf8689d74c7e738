"""Starts an engine and, when it ends, says how: launchers of MPI end all ranks then, and forget which was first.

Run as a program (``python minder.py ENGINE ...``) by mpiexec, once a rank.  Whatever ends it ends the engine too.
Imports nothing but the standard library: it costs 7 MB.
"""

import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
FORWARDED = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]


def main(command):
    """Run a command as this process's child; end as it ends."""
    parent, child = os.getpid(), os.fork()
    if child == 0:
        _end_with(parent)
        os.execv(command[0], command)
    for number in FORWARDED:
        signal.signal(number, lambda received, _: os.kill(child, received))
    status = os.waitpid(child, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    os.write(2, f"dtnn: process {child} ended at {time.time():.6f} with {code}\n".encode())
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code)


def _end_with(parent):
    """Have this process ended when its parent is; where the system can't do that, a signal to the group has to reach it."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
