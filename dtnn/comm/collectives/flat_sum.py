"""What the algorithms share: flat memory in, flat memory out, and how a vector is cut into a share for each rank."""

import functools
import itertools

from ..flat import flat, put_back, reducible

_changed = functools.partial(flat, writeable=True)
_summed = functools.partial(reducible, op="sum")  # refuses what has no sum


def on_flat(algorithm, elements_of=_changed):
    """Let an algorithm that works on a flat vector take arrays of any shape and layout, and return nothing."""

    @functools.wraps(algorithm)
    def collective(comm, array, *args, **kwargs):
        elements = elements_of(array)
        algorithm(comm, elements, *args, **kwargs)
        put_back(elements, array)

    return collective


sum_on_flat = functools.partial(on_flat, elements_of=_summed)


def shares(elements, count):
    """`count` contiguous views that make up the vector, their lengths differing by one at most; some may be empty.

    >>> import numpy as np
    >>> [share.tolist() for share in shares(np.arange(5), 3)]
    [[0], [1, 2], [3, 4]]
    """
    bounds = [elements.size * k // count for k in range(count + 1)]
    return [elements[start:stop] for start, stop in itertools.pairwise(bounds)]


def segments(numbers, itemsize, segment_bytes):
    """How many segments so many numbers go in, none of more than `segment_bytes` unless it is a single number.

    >>> segments(10, 8, 24), segments(0, 8, 24)
    (4, 1)
    """
    return max(1, -(-numbers // max(1, segment_bytes // itemsize)))


def by_place(parts, root):
    """Shares in order of rank, where the first is root's and the others follow round the ring.

    >>> by_place(["a", "b", "c"], root=1)
    ['c', 'a', 'b']
    """
    return [parts[(rank - root) % len(parts)] for rank in range(len(parts))]
