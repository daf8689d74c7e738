"""`Links`: how fast messages are within a node and from node to node; `NodeLinks`: a communicator that is so slow."""

from dataclasses import dataclass

from ..comm.emulated import Emulated


@dataclass(frozen=True)
class Links:
    """What a message costs.

    Parameters
    ----------
    latency : float
        Seconds a message.
    bandwidth : float
        Bytes a second.
    ranks_per_node : int
        Neighbours that share a node.
    slower : float
        How many times as long a message takes from one node to another.

    Examples
    --------
    >>> links = Links(0.01, 1e6, ranks_per_node=2, slower=3)
    >>> links.seconds(0, 1, 1000), links.seconds(1, 2, 1000)
    (0.011, 0.033)
    """

    latency: float
    bandwidth: float
    ranks_per_node: int = 1
    slower: float = 1.0

    def across(self, one, other):
        """Whether two ranks are on different nodes."""
        return one // self.ranks_per_node != other // self.ranks_per_node

    def seconds(self, source, dest, size):
        """How long a message of so many bytes takes."""
        return (self.slower if self.across(source, dest) else 1.0) * (self.latency + size / self.bandwidth)


class NodeLinks:
    """Another communicator behind such links; what it does all together goes at the pace between the nodes."""

    def __init__(self, comm, links):
        self.links, self.rank, self.size = links, comm.rank, comm.size
        self.near = Emulated(comm, links.latency, links.bandwidth)
        self.far = Emulated(comm, links.latency * links.slower, links.bandwidth / links.slower)

    def __getattr__(self, name):
        return getattr(self.far if self.links.across(0, self.size - 1) else self.near, name)

    def Send(self, array, dest, tag=0):
        self._to(dest).Send(array, dest, tag)

    def Recv(self, array, source, tag=0):
        self.near.Recv(array, source, tag)

    def Sendrecv(self, sent, dest, received, source, tag=0):
        self._to(dest).Sendrecv(sent, dest, received, source, tag)

    def _to(self, dest):
        return self.far if self.links.across(self.rank, dest) else self.near
