"""What the parts of sums cost, and broadcasts, reductions, scatters and gathers; `size` is n, the bytes of the array."""

from dataclasses import fields, replace

from .cost import Cost, ceil_log2


def tree_broadcast(ranks, size):
    """ceil(log2 P)(alpha + n beta).

    >>> tree_broadcast(4, 1e6).starts, tree_broadcast(4, 1e6).path_bytes
    (2, 2000000.0)
    """
    rounds, others = ceil_log2(ranks), ranks - 1
    return Cost(rounds, rounds * size, 0, others, others * size)


def tree_reduce(ranks, size):
    """ceil(log2 P)(alpha + n beta + n gamma).

    >>> tree_reduce(4, 1e6).starts, tree_reduce(4, 1e6).added_bytes
    (2, 2000000.0)
    """
    return replace(tree_broadcast(ranks, size), added_bytes=ceil_log2(ranks) * size)


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
    return Cost(ceil_log2(ranks), others * share, 0, others, handed * share)


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


def _both(first, second):
    """The cost of one after the other."""
    return Cost(*(getattr(first, field.name) + getattr(second, field.name) for field in fields(Cost)))
