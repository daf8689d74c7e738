"""All-reduce for nodes of several ranks: only one rank a node talks across the network."""

import platform
import zlib

import numpy as np

from ...allowed import whole
from ..part import Part
from .flat_sum import sum_on_flat
from .rabenseifner import rabenseifner
from .ring import ring_all_gather
from .tree import tree_broadcast, tree_reduce


@sum_on_flat
def hierarchical(comm, array, ranks_per_node=None):
    """Sum `array` over all ranks, in place: up a tree within each node, all-reduce among the nodes' first ranks, and down.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.
    ranks_per_node : int, optional
        Take so many neighbouring ranks for a node, to try it out on one machine; left out, the ranks tell each other which
        host they are on, the first time that this communicator is used.

    Notes
    -----
    Cost with N nodes of g ranks: 2 ceil(log2 g)(alpha_1 + n beta_1) within a node, and that of `rabenseifner` among N ranks
    with the alpha and beta of the network. Pays where the network is much slower than the nodes' memory.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.array([1.0, 2.0])
    ...     hierarchical(comm, array, ranks_per_node=2)
    ...     return array.tolist()
    >>> run_threads(job, 5)[4]
    [5.0, 10.0]
    """
    ranks = np.arange(comm.size)
    nodes = nodes_of(comm) if ranks_per_node is None else ranks // whole("ranks_per_node", ranks_per_node, 1)
    node = Part(comm, ranks[nodes == nodes[comm.rank]].tolist())
    tree_reduce(node, array)
    if node.rank == 0:
        firsts = [int(rank) for rank in ranks if nodes[rank] not in nodes[:rank]]
        rabenseifner(Part(comm, firsts), array)
    tree_broadcast(node, array)


def nodes_of(comm):
    """A number for each rank's host, the same for ranks of one host; collective the first time, then known of the communicator.

    Notes
    -----
    Cost, once: that of an all-gather of 8 bytes a rank, here on a ring.
    """
    if getattr(comm, "nodes", None) is None:
        hosts = np.zeros(comm.size, np.int64)
        hosts[comm.rank] = zlib.crc32(platform.node().encode())
        ring_all_gather(comm, hosts)
        comm.nodes = hosts
    return comm.nodes
