"""Sums over all ranks and their parts, one readable algorithm a file, each a function of a communicator and an array.

`ALGORITHMS` are the sums. What they are made of, and the like, can be used by itself: `tree_broadcast`, `scatter_broadcast` and
`chain_broadcast`, `tree_reduce` and `gather_reduce`, `tree_scatter`, `tree_gather`, `ring_reduce_scatter` and `ring_all_gather`.

They use nothing but ``Send``, ``Recv`` and ``Sendrecv`` (`native` and `in_float64` leave the work to the communicator), and leave
the same bits on all ranks. Whether one of your own is right, `check_allreduce` says.

All take `comm`, a `Communicator` of any number of ranks, and `array`, an ndarray of any shape, layout and length, the same on
all ranks, in which they leave their result. In their costs P is the number of ranks, n the bytes of the array, alpha the time to
start a message, beta the time for one byte, gamma the time to add one byte to another; `dtnn.comm.cost` computes them. "Chan et
al." are Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and experience", Concurrency
and Computation 19 (2007).
"""

from .central import central
from .chain_broadcast import chain_broadcast
from .check import WrongSum, check_allreduce
from .flat_sum import shares
from .gather_reduce import gather_reduce
from .hierarchical import hierarchical
from .in_float64 import in_float64
from .native import native
from .rabenseifner import rabenseifner
from .recursive_doubling import recursive_doubling
from .ring import ring, ring_all_gather, ring_reduce_scatter
from .scatter_broadcast import scatter_broadcast, tree_gather, tree_scatter
from .segmented_ring import segmented_ring
from .torus import torus
from .tree import tree, tree_broadcast, tree_reduce

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
    "chain_broadcast",
    "check_allreduce",
    "gather_reduce",
    "hierarchical",
    "in_float64",
    "native",
    "rabenseifner",
    "recursive_doubling",
    "ring",
    "ring_all_gather",
    "ring_reduce_scatter",
    "scatter_broadcast",
    "segmented_ring",
    "shares",
    "torus",
    "tree",
    "tree_broadcast",
    "tree_gather",
    "tree_reduce",
    "tree_scatter",
]
