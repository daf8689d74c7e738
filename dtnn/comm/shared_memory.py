"""`shared_rows`: memory that all ranks of one host see, one row each."""

import mmap
import os

import numpy as np

LINE = 64  # bytes of a cache line: ranks write to lines of their own
NAME = "dtnn"  # of the memory, in lists of what a process has open


def shared_rows(comm, size, wanted=True):
    """One row of memory a rank, zero at first, which all ranks may read and write; collective.

    The memory belongs to no file: rank 0 makes it, the others open it through rank 0's process, and it is gone with the
    last of them, however they end.

    Parameters
    ----------
    comm : Communicator
    size : int
        Bytes of a row, at least; rows begin at cache lines.
    wanted : bool
        Whether this rank would have it; one that would not (of several hosts, some may be crowded) is enough for all.

    Returns
    -------
    ndarray of uint8, (ranks, bytes), or None
        None, on all ranks, where not all want it or see one memory: they are on several hosts, there is no
        ``memfd_create`` (it is Linux's), or they may not look at rank 0's process.
    """
    row = -(-size // LINE) * LINE + LINE  # a line more: rows of whole pages would get in each other's way in the cache
    length = LINE + comm.size * row
    token = np.frombuffer(os.urandom(8), np.int64)
    made = _made(token, length) if comm.rank == 0 and wanted else None
    place = np.array([os.getpid(), made[0] if made else -1, *token], np.int64)
    try:
        comm.Bcast(place)
        memory = made[1] if made else _opened(*place[:2].tolist(), length) if comm.rank else None
        seen = wanted and memory is not None and np.frombuffer(memory, np.int64, 1)[0] == place[2]
        works = bool(comm.Allreduce(float(seen), "min"))
    finally:  # an interrupt may end the wait
        if made:
            os.close(made[0])  # what is mapped stays
    return np.frombuffer(memory, np.uint8)[LINE:].reshape(comm.size, row) if works else None


def _made(token, length):
    """(file descriptor, memory) with the token at its beginning, or None where that is not possible."""
    try:
        number = os.memfd_create(NAME, os.MFD_CLOEXEC)
    except (AttributeError, OSError):
        return None
    try:
        os.ftruncate(number, length)
        memory = mmap.mmap(number, length)
    except OSError:
        os.close(number)
        return None
    memory[: token.nbytes] = token.tobytes()
    return number, memory


def _opened(process, number, length):
    """The memory that another process of this host has made, or None.

    On another host, or in another container, that number may be anybody's, of any file, which is not even to be opened.
    """
    path = f"/proc/{process}/fd/{number}"
    try:
        if not os.readlink(path).startswith(f"/memfd:{NAME}"):
            return None
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return mmap.mmap(file, length) if os.fstat(file).st_size == length else None
    except OSError:
        return None
    finally:
        os.close(file)
