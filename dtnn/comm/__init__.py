"""Communicators: the same verbs on one rank (`Serial`), on ranks that are threads (`run_threads`), and on MPI (`MPI`, `Pool`).

None of this imports mpi4py before an `MPI` or a `Pool` is made: importing it starts MPI in the process.
"""

from .communicator import Communicator
from .failures import Deadlock, Mismatch, RankFailed
from .group import group, run_threads
from .mpi import MPI
from .ordered import Ordered
from .pool import Pool
from .request import Request
from .serial import Serial
from .threads import Threads

__all__ = [
    "MPI",
    "Communicator",
    "Deadlock",
    "Mismatch",
    "Ordered",
    "Pool",
    "RankFailed",
    "Request",
    "Serial",
    "Threads",
    "group",
    "run_threads",
]
