"""`Cost`: of one collective, what there is of each of the model's terms."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """The cost of one collective.

    Parameters
    ----------
    starts : float
        Messages one after the other on the longest path (times alpha).
    path_bytes : float
        Bytes sent one after the other on it (times beta).
    added_bytes : float
        Bytes added up one after the other on it (times gamma).
    messages, bytes : float
        Over all ranks; exact for any length.

    Examples
    --------
    >>> Cost(starts=2, path_bytes=1e6, added_bytes=0, messages=2, bytes=1e6).seconds(alpha=1e-3, beta=1e-9)
    0.003
    """

    starts: float
    path_bytes: float
    added_bytes: float
    messages: float
    bytes: float

    def seconds(self, alpha, beta, gamma=0.0):
        """The time: `alpha` seconds a message, `beta` seconds a byte sent, `gamma` seconds a byte added."""
        return self.starts * alpha + self.path_bytes * beta + self.added_bytes * gamma


def ceil_log2(ranks):
    """How often `ranks` can be halved, rounding up, until one is left: the rounds of a binomial tree."""
    return (ranks - 1).bit_length()
