"""Finding out whether ranks hold the same thing, and who does not."""

import hashlib
from collections import defaultdict

import numpy as np

from .failures import Mismatch


def digest(data):
    """64 bits that stand for a text or for bytes; others have others, but for one chance in 10^19.

    >>> digest("fc1") == digest("fc2")
    False
    """
    data = data.encode() if isinstance(data, str) else data
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def agree(comm, number):
    """Whether all ranks gave the same 64-bit number; collective, one message of 16 bytes.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> run_threads(lambda comm: (agree(comm, 7), agree(comm, comm.rank)), 2)
    [(True, False), (True, False)]
    """
    found = extremes(number)
    comm.Allreduce(found, "max")
    return bool(found[0] == ~found[1])


def extremes(number):
    """What to reduce with "max": of what comes out, the first is the complement of the second only if all numbers were one."""
    return np.array([number, ~np.uint64(number)], np.uint64)


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
    return by_speaker(texts_of_ranks(comm, text))


def by_speaker(texts):
    """The texts of ranks 0, 1, ... as one sentence, what most say first.

    >>> by_speaker(["Barrier", "Gather", "Gather"])
    'ranks 1, 2: Gather; rank 0: Barrier'
    """
    speakers = defaultdict(list)
    for rank, said in enumerate(texts):
        speakers[said].append(str(rank))
    ordered = sorted(speakers.items(), key=lambda entry: -len(entry[1]))
    return "; ".join(f"rank{'s' * (len(ranks) > 1)} {', '.join(ranks)}: {said}" for said, ranks in ordered)


def disagreement(asked):
    """The error of ranks that ask for different things in the same place: `asked` by ranks 0, 1, ..."""
    return Mismatch(
        f"ranks ask for different things at once: {by_speaker(asked)}. All ranks must make the same calls in the same order"
    )


def texts_of_ranks(comm, text):
    """What each rank says, in order; collective."""
    letters = np.frombuffer(text.encode(), np.uint8)
    table = np.zeros((comm.size, comm.Allreduce(letters.size, "max")), np.uint8)
    table[comm.rank, : letters.size] = letters
    comm.Allreduce(table)
    return [row.tobytes().rstrip(b"\0").decode() for row in table]
