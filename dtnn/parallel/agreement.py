"""Finding out whether ranks hold the same thing, and who does not."""

from collections import defaultdict

import numpy as np


def agree(comm, digest):
    """Whether all ranks gave the same 64-bit number; collective, one message of 16 bytes.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> run_threads(lambda comm: (agree(comm, 7), agree(comm, comm.rank)), 2)
    [(True, False), (True, False)]
    """
    extremes = np.array([digest, ~np.uint64(digest)], np.uint64)
    comm.Allreduce(extremes, "max")
    return bool(extremes[0] == ~extremes[1])


def first_difference(comm, digests):
    """Where lists of 64-bit numbers first differ between ranks: the position, or None; collective.

    Lists may differ in length; a missing number counts as one that nobody else has.
    """
    count = comm.Allreduce(len(digests), "max")
    table = np.zeros((comm.size, count), np.uint64)
    table[comm.rank, : len(digests)] = digests
    comm.Allreduce(table)
    different = np.flatnonzero((table != table[0]).any(axis=0))
    return int(different[0]) if different.size else None


def who_says_what(comm, text):
    """What each rank says, the many first, as in "ranks 0, 2: conv2d_1.weight; rank 1: linear_2.bias"; collective.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> run_threads(lambda comm: who_says_what(comm, "no" if comm.rank == 0 else "yes"), 3)[0]
    'ranks 1, 2: yes; rank 0: no'
    """
    speakers = defaultdict(list)
    for rank, said in enumerate(_texts(comm, text)):
        speakers[said].append(str(rank))
    ordered = sorted(speakers.items(), key=lambda entry: -len(entry[1]))
    return "; ".join(f"rank{'s' * (len(ranks) > 1)} {', '.join(ranks)}: {said}" for said, ranks in ordered)


def _texts(comm, text):
    letters = np.frombuffer(text.encode(), np.uint8)
    table = np.zeros((comm.size, comm.Allreduce(letters.size, "max")), np.uint8)
    table[comm.rank, : letters.size] = letters
    comm.Allreduce(table)
    return [row.tobytes().rstrip(b"\0").decode() for row in table]
