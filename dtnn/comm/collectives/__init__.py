"""Sums over all ranks, one readable algorithm a file, each a function of a communicator and an array.

They use nothing but ``Send``, ``Recv`` and ``Sendrecv`` (`native` and `in_float64` leave the work to the communicator), take any
number of ranks and any length, and leave the same bits on all ranks. What each costs is in `dtnn.comm.cost`; whether one of
your own is right, `check_allreduce` says.
"""

from .central import central
from .check import WrongSum, check_allreduce
from .hierarchical import hierarchical
from .in_float64 import in_float64
from .native import native
from .rabenseifner import rabenseifner
from .recursive_doubling import recursive_doubling
from .ring import ring
from .segmented_ring import segmented_ring
from .torus import torus
from .tree import tree

ALGORITHMS = (
    "central",
    "hierarchical",
    "in_float64",
    "native",
    "rabenseifner",
    "recursive_doubling",
    "ring",
    "segmented_ring",
    "torus",
    "tree",
)

__all__ = [
    "ALGORITHMS",
    "WrongSum",
    "central",
    "check_allreduce",
    "hierarchical",
    "in_float64",
    "native",
    "rabenseifner",
    "recursive_doubling",
    "ring",
    "segmented_ring",
    "torus",
    "tree",
]
