"""`SharedSum`: ranks of one host add up long arrays in memory that all of them see."""

import mmap
import os

import numpy as np

LEAST, CHUNK = 32 * 1024, 512 * 1024  # bytes: shorter arrays travel as messages; longer ones in pieces that stay in the cache
SLOTS = 2
LINE = 64  # bytes of a cache line: ranks write to lines of their own
KINDS = np.dtype(np.float32), np.dtype(np.float64)


class SharedSum:
    """Sums over the ranks of one host, in place. Making one is collective.

    Every rank writes its numbers on its own row of a board; when all have, each adds up one share of the columns, in the
    order of the ranks, and when all have, takes the others' shares. Two slots take turns, so that whoever is quick does not
    wipe out what another still reads.

    The memory belongs to no file: rank 0 makes it, the others open it through rank 0's process, and it is gone with the
    last of them, however they end.

    Parameters
    ----------
    comm : MPI
        Whose ranks they are.
    wanted : bool
        Whether this rank would have it; one that would not (of several hosts, some may be crowded) is enough for all.

    Attributes
    ----------
    works : bool
        Whether all ranks want it and see one memory: they are on one host, which has ``memfd_create`` (Linux), and may look at
        rank 0's process. The same on all ranks.

    Notes
    -----
    For P ranks and n bytes each rank moves 2 n + (P-1) n / P bytes and waits for the others twice for every `CHUNK` bytes.
    Two ranks, measured: 940 kB in 46 microseconds instead of the 123 of MPICH's all-reduce, 247 kB in 20 instead of 40.
    All ranks get the same bits, the same in each run.
    """

    def __init__(self, comm, wanted=True):
        self.comm, self.turn = comm, 0
        token = np.frombuffer(os.urandom(8), np.int64)
        memory = self._made(token) if comm.rank == 0 and wanted else None
        place = np.array([os.getpid(), memory[0] if memory else -1, *token], np.int64)
        comm.Bcast(place)
        board = memory[1] if memory else _opened(*place[:2].tolist(), self._bytes()) if comm.rank else None
        seen = wanted and board is not None and np.frombuffer(board, np.int64, 1)[0] == place[2]
        self.works = bool(comm.Allreduce(float(seen), "min"))
        if memory:
            os.close(memory[0])  # what is mapped stays
        if self.works:
            self.board = np.frombuffer(board, np.uint8)[LINE:].reshape(SLOTS, comm.size, CHUNK)

    def add_up(self, elements):
        """The sum over all ranks of a flat array of float32 or float64, in place; collective."""
        step = CHUNK // elements.itemsize
        for start in range(0, elements.size, step):
            self._add_up_piece(elements[start : start + step])

    def _add_up_piece(self, piece):
        rank, size = self.comm.rank, self.comm.size
        rows = self.board[self.turn].view(piece.dtype)[:, : piece.size]
        self.turn = (self.turn + 1) % SLOTS
        share = -(-piece.nbytes // (LINE * size)) * LINE // piece.itemsize
        shares = [slice(min(k * share, piece.size), min((k + 1) * share, piece.size)) for k in range(size)]
        rows[rank] = piece
        self.comm.meet()
        own = shares[rank]
        total = np.add(rows[0, own], rows[1, own], out=piece[own])
        for other in range(2, size):
            total += rows[other, own]
        rows[rank, own] = total
        self.comm.meet()
        for other, columns in enumerate(shares):
            if other != rank:
                piece[columns] = rows[other, columns]

    def _bytes(self):
        return LINE + SLOTS * self.comm.size * CHUNK

    def _made(self, token):
        """(file descriptor, memory) with the token at its beginning, or None where that is not possible."""
        try:
            number = os.memfd_create("dtnn", os.MFD_CLOEXEC)
            os.ftruncate(number, self._bytes())
            memory = mmap.mmap(number, self._bytes())
        except (AttributeError, OSError):
            return None
        memory[: token.nbytes] = token.tobytes()
        return number, memory


def _opened(process, number, size):
    """The memory that another process of this host has made, or None."""
    try:
        file = os.open(f"/proc/{process}/fd/{number}", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return mmap.mmap(file, size) if os.fstat(file).st_size == size else None
    except OSError:
        return None
    finally:
        os.close(file)
