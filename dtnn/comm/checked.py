"""What may be asked of a communicator: each a check that returns what it was given, or says what may be."""

from ..allowed import shown, whole

OPERATIONS = ("sum", "max", "min")
MOST = 2**31 - 1  # the largest number that MPI takes for a tag or a color


def described(array):
    """Type and shape of an array in words.

    >>> import numpy as np
    >>> described(np.zeros((2, 3)))
    'float64 (2, 3)'
    """
    return f"{array.dtype.name} {array.shape}"


def known_operation(op):
    """`op` if there is such an operation, else a `ValueError` that lists them."""
    if not isinstance(op, str) or op not in OPERATIONS:
        raise ValueError(f"operation {shown(op)} is not known; known are {', '.join(map(repr, OPERATIONS))}")
    return op


def known_rank(rank, size, name):
    """`rank` if it is one of `size` ranks, else a `ValueError` that names the argument."""
    if type(rank) is not int:  # NumPy's whole numbers are right, too; only this look is quicker
        rank = whole(name, rank)
    if not 0 <= rank < size:
        are = f"there are {size} ranks, numbered 0 to {size - 1}" if size > 1 else "there is one rank, number 0"
        raise ValueError(f"{name}={shown(rank)}: {are}")
    return rank


def known_tag(tag, most=MOST):
    """`tag` if it can mark a message, else an error that says what can."""
    if type(tag) is not int or not 0 <= tag < most:
        whole("tag", tag, 0, most)
    return tag


def known_color(color):
    """`color` if it can name a part in a `Split`, or is None."""
    return color if color is None else whole("color", color, 0, MOST)


def known_key(key):
    """`key` if ranks can be ordered by it in a `Split`, else an error that says what can."""
    return whole("key", key, -MOST, MOST)


def known_communicator(comm):
    """`comm` if it looks like a communicator, else a `TypeError` that says where one comes from."""
    if not hasattr(comm, "rank") or not hasattr(comm, "size") or not hasattr(comm, "Allreduce"):
        raise TypeError(f"comm={shown(comm)} is no communicator; give the one that a job is called with, or dtnn.comm.Serial()")
    return comm
