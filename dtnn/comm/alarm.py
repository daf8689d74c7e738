"""The methods of `MPI` that end waits before their time: this rank's own and, when it has failed, those of the others."""

import sys

from .failures import RankFailed


def fail(comm, reason):
    comm._failed = True
    if comm.blocking and comm.size > 1:
        print(f"rank {comm.rank} failed: {reason}", file=sys.stderr, flush=True)  # the next line ends this process too
        comm.world.Abort(1)
    comm._notices.tell(reason)


def spoil(comm):
    """From now on this is good for nothing but `fail`: ranks disagree."""
    comm._failed = True


def interrupt(comm):
    """Make the wait that this rank is in, or begins next, end with KeyboardInterrupt; from any thread."""
    comm._interrupted = True


def look(comm):
    """Raise what a wait has to end with, if there is anything."""
    if comm._house is not None:
        comm._house.look()
    if comm._interrupted:
        raise KeyboardInterrupt
    if comm._notices.hear():
        raise RankFailed(*comm._notices.failure)
