"""What all-reduces cost; `size` is n, the bytes of the array."""

from ..collectives.torus import grid
from .cost import Cost, ceil_log2


def central(ranks, size):
    """2(P-1)(alpha + n beta) + (P-1) n gamma.

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
    rounds, others = ceil_log2(ranks), ranks - 1
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
    rounds = ceil_log2(places)
    return _folded(ranks, size, Cost(rounds, rounds * size, rounds * size, places * rounds, places * rounds * size))


def rabenseifner(ranks, size):
    """2 log2 P alpha + 2(P-1)/P n beta + (P-1)/P n gamma; else that of the largest power of two below P, and the fold.

    >>> rabenseifner(4, 1e6).starts, rabenseifner(4, 1e6).path_bytes
    (4, 1500000.0)
    """
    places = _power_of_two(ranks)
    rounds, share = ceil_log2(places), size / places
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
    rounds, inside = ceil_log2(min(ranks, ranks_per_node)), ranks - nodes
    between = rabenseifner(nodes, size)
    return Cost(
        between.starts + 2 * rounds,
        between.path_bytes + 2 * rounds * size,
        between.added_bytes + rounds * size,
        between.messages + 2 * inside,
        between.bytes + 2 * inside * size,
    )


def lower_bound(ranks, size):
    """ceil(log2 P) alpha + 2(P-1)/P n beta + (P-1)/P n gamma: each term alone can't be less; no algorithm reaches all three.

    >>> lower_bound(4, 1e6).starts, lower_bound(4, 1e6).path_bytes
    (2, 1500000.0)
    """
    others, share = ranks - 1, size / ranks
    return Cost(ceil_log2(ranks), 2 * others * share, others * share, 2 * others, 2 * others * size)


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
