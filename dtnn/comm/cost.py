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

from dataclasses import dataclass, fields, replace

from .collectives.torus import grid


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


def central(ranks, size):
    """2(P-1)(alpha + n beta) + (P-1) n gamma. `size` is n in bytes, here and below.

    >>> central(4, 1e6).starts, central(4, 1e6).path_bytes
    (6, 6000000.0)
    """
    others = ranks - 1
    return Cost(2 * others, 2 * others * size, others * size, 2 * others, 2 * others * size)


def tree(ranks, size):
    """2 ceil(log2 P)(alpha + n beta) + ceil(log2 P) n gamma.

    >>> tree(4, 1e6).starts, tree(4, 1e6).path_bytes
    (4, 4000000.0)
    """
    rounds, others = _ceil_log2(ranks), ranks - 1
    return Cost(2 * rounds, 2 * rounds * size, rounds * size, 2 * others, 2 * others * size)


def ring(ranks, size):
    """2(P-1) alpha + 2(P-1)/P n beta + (P-1)/P n gamma.

    >>> ring(4, 1e6).starts, ring(4, 1e6).path_bytes
    (6, 1500000.0)
    """
    return segmented_ring(ranks, size, 1)


def segmented_ring(ranks, size, segments):
    """(S+1)(P-1) alpha + 2(P-1)/P n beta + (P-1)/P n gamma, S segments a share.

    >>> segmented_ring(4, 1e6, 2).starts, segmented_ring(4, 1e6, 2).path_bytes
    (9, 1500000.0)
    """
    others, share = ranks - 1, size / ranks
    starts = (segments + 1) * others
    return Cost(starts, 2 * others * share, others * share, ranks * starts, 2 * others * size)


def recursive_doubling(ranks, size):
    """log2 P (alpha + n beta + n gamma); else floor(log2 P) of it, and the fold.

    >>> recursive_doubling(4, 1e6).starts, recursive_doubling(4, 1e6).path_bytes
    (2, 2000000.0)
    """
    places = _power_of_two(ranks)
    rounds = _ceil_log2(places)
    return _folded(ranks, size, Cost(rounds, rounds * size, rounds * size, places * rounds, places * rounds * size))


def rabenseifner(ranks, size):
    """2 log2 P alpha + 2(P-1)/P n beta + (P-1)/P n gamma; else that of the largest power of two below P, and the fold.

    >>> rabenseifner(4, 1e6).starts, rabenseifner(4, 1e6).path_bytes
    (4, 1500000.0)
    """
    places = _power_of_two(ranks)
    rounds, share = _ceil_log2(places), size / places
    cost = Cost(2 * rounds, 2 * (places - 1) * share, (places - 1) * share, 2 * places * rounds, 2 * (places - 1) * size)
    return _folded(ranks, size, cost)


def torus(ranks, size):
    """2(R-1 + C-1) alpha + 2(P-1)/P n beta + (P-1)/P n gamma on R rows and C columns, the most square grid there is.

    >>> torus(4, 1e6).starts, torus(4, 1e6).path_bytes
    (4, 1500000.0)
    """
    rows, columns = grid(ranks)
    starts = 2 * (rows - 1 + columns - 1)
    others, share = ranks - 1, size / ranks
    return Cost(starts, 2 * others * share, others * share, ranks * starts, 2 * others * size)


def hierarchical(ranks, size, ranks_per_node):
    """A tree of g ranks within each node, and Rabenseifner's algorithm between the N nodes, on links that are all alike.

    >>> hierarchical(4, 1e6, 2).starts, hierarchical(4, 1e6, 2).path_bytes
    (4, 3000000.0)
    """
    nodes = -(-ranks // ranks_per_node)
    rounds, inside = _ceil_log2(min(ranks, ranks_per_node)), ranks - nodes
    between = rabenseifner(nodes, size)
    return Cost(
        between.starts + 2 * rounds,
        between.path_bytes + 2 * rounds * size,
        between.added_bytes + rounds * size,
        between.messages + 2 * inside,
        between.bytes + 2 * inside * size,
    )


def tree_broadcast(ranks, size):
    """ceil(log2 P)(alpha + n beta).

    >>> tree_broadcast(4, 1e6).starts, tree_broadcast(4, 1e6).path_bytes
    (2, 2000000.0)
    """
    rounds, others = _ceil_log2(ranks), ranks - 1
    return Cost(rounds, rounds * size, 0, others, others * size)


def tree_reduce(ranks, size):
    """ceil(log2 P)(alpha + n beta + n gamma).

    >>> tree_reduce(4, 1e6).starts, tree_reduce(4, 1e6).added_bytes
    (2, 2000000.0)
    """
    return replace(tree_broadcast(ranks, size), added_bytes=_ceil_log2(ranks) * size)


def ring_all_gather(ranks, size):
    """(P-1) alpha + (P-1)/P n beta.

    >>> ring_all_gather(4, 1e6).starts, ring_all_gather(4, 1e6).path_bytes
    (3, 750000.0)
    """
    others = ranks - 1
    return Cost(others, others * size / ranks, 0, ranks * others, others * size)


def ring_reduce_scatter(ranks, size):
    """(P-1) alpha + (P-1)/P n (beta + gamma).

    >>> ring_reduce_scatter(4, 1e6).starts, ring_reduce_scatter(4, 1e6).added_bytes
    (3, 750000.0)
    """
    return replace(ring_all_gather(ranks, size), added_bytes=(ranks - 1) * size / ranks)


def tree_scatter(ranks, size):
    """ceil(log2 P) alpha + (P-1)/P n beta; its bytes are exact where n divides by P.

    >>> tree_scatter(4, 1e6).starts, tree_scatter(4, 1e6).path_bytes, tree_scatter(4, 1e6).bytes
    (2, 750000.0, 1000000.0)
    """
    others, share = ranks - 1, size / ranks
    handed = sum(min(place & -place, ranks - place) for place in range(1, ranks))  # shares: each place is sent its branch's
    return Cost(_ceil_log2(ranks), others * share, 0, others, handed * share)


def tree_gather(ranks, size):
    """As `tree_scatter`, which it does backwards.

    >>> tree_gather(4, 1e6) == tree_scatter(4, 1e6)
    True
    """
    return tree_scatter(ranks, size)


def scatter_broadcast(ranks, size):
    """(ceil(log2 P) + P-1) alpha + 2(P-1)/P n beta; its bytes are exact where n divides by P.

    >>> scatter_broadcast(4, 1e6).starts, scatter_broadcast(4, 1e6).path_bytes
    (5, 1500000.0)
    """
    return _both(tree_scatter(ranks, size), ring_all_gather(ranks, size))


def gather_reduce(ranks, size):
    """(P-1 + ceil(log2 P)) alpha + 2(P-1)/P n beta + (P-1)/P n gamma; its bytes are exact where n divides by P.

    >>> gather_reduce(4, 1e6).starts, gather_reduce(4, 1e6).added_bytes
    (5, 750000.0)
    """
    return _both(ring_reduce_scatter(ranks, size), tree_gather(ranks, size))


def chain_broadcast(ranks, size, segments):
    """(P-2+k)(alpha + n/k beta), k segments.

    >>> chain_broadcast(4, 1e6, 10).starts, chain_broadcast(4, 1e6, 10).path_bytes
    (12, 1200000.0)
    """
    others = ranks - 1
    steps = others - 1 + segments if others else 0
    return Cost(steps, steps * size / segments, 0, others * segments, others * size)


def lower_bound(ranks, size):
    """ceil(log2 P) alpha + 2(P-1)/P n beta + (P-1)/P n gamma: each term alone can't be less; no algorithm reaches all three.

    >>> lower_bound(4, 1e6).starts, lower_bound(4, 1e6).path_bytes
    (2, 1500000.0)
    """
    others, share = ranks - 1, size / ranks
    return Cost(_ceil_log2(ranks), 2 * others * share, others * share, 2 * others, 2 * others * size)


def _both(first, second):
    """The cost of one after the other."""
    return Cost(*(getattr(first, field.name) + getattr(second, field.name) for field in fields(Cost)))


def _folded(ranks, size, cost):
    """With the 2 (alpha + n beta) + n gamma of folding away the ranks above a power of two, if there are any."""
    extra = ranks - _power_of_two(ranks)
    if not extra:
        return cost
    return Cost(
        cost.starts + 2,
        cost.path_bytes + 2 * size,
        cost.added_bytes + size,
        cost.messages + 2 * extra,
        cost.bytes + 2 * extra * size,
    )


def _power_of_two(ranks):
    return 1 << (ranks.bit_length() - 1)


def _ceil_log2(ranks):
    return (ranks - 1).bit_length()
