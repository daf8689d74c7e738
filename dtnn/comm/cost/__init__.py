"""What each collective costs, as formulas: time on the longest path, and messages and bytes over all ranks.

The model is Hockney's: a message of n bytes takes alpha + n beta, adding up n bytes takes n gamma, a rank sends and
receives one message at a time (both at once), and messages between different pairs of ranks don't disturb each other.

Examples
--------
>>> ring(8, 1e6).seconds(alpha=1e-6, beta=1e-10, gamma=1e-10)
0.0002765
>>> recursive_doubling(8, 1e6).seconds(alpha=1e-6, beta=1e-10, gamma=1e-10)
0.000603
"""

from .cost import Cost
from .parts import (
    chain_broadcast,
    gather_reduce,
    ring_all_gather,
    ring_reduce_scatter,
    scatter_broadcast,
    tree_broadcast,
    tree_gather,
    tree_reduce,
    tree_scatter,
)
from .sums import central, hierarchical, lower_bound, rabenseifner, recursive_doubling, ring, segmented_ring, torus, tree

__all__ = [
    "Cost",
    "central",
    "chain_broadcast",
    "gather_reduce",
    "hierarchical",
    "lower_bound",
    "rabenseifner",
    "recursive_doubling",
    "ring",
    "ring_all_gather",
    "ring_reduce_scatter",
    "scatter_broadcast",
    "segmented_ring",
    "torus",
    "tree",
    "tree_broadcast",
    "tree_gather",
    "tree_reduce",
    "tree_scatter",
]
