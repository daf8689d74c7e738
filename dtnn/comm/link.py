"""`Link`: how much longer messages and collectives take over a slower network."""

from . import cost


class Link:
    """The link of one of `size` ranks.

    Parameters
    ----------
    size : int
    latency : float
        Seconds that each message takes longer.
    bandwidth : float, optional
        Bytes a second; left out, as many as there come.

    Examples
    --------
    >>> Link(2, latency=0.01, bandwidth=1e6).travel(1000)
    0.011
    """

    def __init__(self, size, latency=0.0, bandwidth=None):
        self.size, self.latency, self.bandwidth = size, latency, bandwidth
        self.beta = 1.0 / bandwidth if bandwidth else 0.0

    def travel(self, size):
        """Seconds for a message of so many bytes."""
        return self.latency + size * self.beta

    def reduction(self, size):
        """Seconds for an all-reduce of so many bytes, by Rabenseifner's algorithm."""
        return cost.rabenseifner(self.size, size).seconds(self.latency, self.beta)

    def tree(self, size):
        """Seconds for a reduction and a broadcast of so many bytes, each along a binomial tree."""
        return cost.tree(self.size, size).seconds(self.latency, self.beta)
