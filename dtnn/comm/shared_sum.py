"""`SharedSum`: ranks of one host add up long arrays in memory that all of them see."""

import numpy as np

from .rendezvous import POSSIBLE, Rendezvous
from .shared_memory import LINE, shared_rows

LEAST, CHUNK = 32 * 1024, 512 * 1024  # bytes: shorter arrays travel as messages; longer ones in pieces that stay in the cache
SLOTS = 2
KINDS = np.dtype(np.float32), np.dtype(np.float64)


class SharedSum:
    """Sums over the ranks of one host, in place. Making one is collective.

    Every rank writes its numbers on its own row of a board; when all have, each adds up one share of the columns, in the
    order of the ranks, and when all have, takes the others' shares. Two slots take turns, so that whoever is quick does not
    wipe out what another still reads.

    What already lies in the `room` is not copied: each rank adds up its share there, and writes it into everybody's.

    Parameters
    ----------
    comm : MPI
        Whose ranks they are.
    wanted : bool
        Whether this rank would have it, see `shared_rows`.

    Attributes
    ----------
    works : bool
        Whether all ranks want it and see one memory. The same on all ranks.
    rendezvous : Rendezvous or None
        Where they wait for each other; None where that is left to MPI.

    Notes
    -----
    For P ranks and n bytes each rank moves 2 n + (P-1) n / P bytes and waits for the others twice for every `CHUNK` bytes; in the
    room it moves 2 n - n / P, and waits twice.  All ranks get the same bits, the same in each run, in the room or not.
    """

    def __init__(self, comm, wanted=True):
        self.comm, self.turn, self.rendezvous = comm, 0, None
        self.rows = self.plan = None  # of the room, and what was last added up there
        self.placed = None, -1  # an array, and where in this rank's row it lies: a training asks in each step
        self.begin = 0  # address of this rank's row
        board = shared_rows(comm, LINE + SLOTS * CHUNK, wanted)
        self.works = board is not None
        if self.works:
            self.board = board[:, LINE : LINE + SLOTS * CHUNK].reshape(comm.size, SLOTS, CHUNK)
            if POSSIBLE:
                lines = memoryview(board.reshape(-1)).cast("q")
                self.rendezvous = Rendezvous(comm, lines, board.shape[1] // 8)

    def room(self, size):
        """Memory of this rank, zero at first, in which sums are made without copies; collective.

        Parameters
        ----------
        size : int
            Bytes.

        Returns
        -------
        ndarray of uint8, or None
            None where there can't be any. There is one room at a time: what lies in an older one is copied again.
        """
        self.rows, self.plan, self.placed = None, None, (None, -1)
        if self.rendezvous is not None:
            self.rows = shared_rows(self.comm, size)
        if self.rows is None:
            return None
        self.begin = address(self.rows[self.comm.rank])
        return self.rows[self.comm.rank, :size]

    def add_up(self, elements, asked=0):
        """The sum over all ranks of a flat array of float32 or float64, in place; collective.

        Parameters
        ----------
        elements : ndarray
        asked : int
            What all ranks must have said as well, see `Rendezvous`.

        Returns
        -------
        bool
            Whether they have; else nothing was added up.
        """
        if self.rendezvous is not None:
            places = self.rendezvous.meet(asked, self._place(elements))
            if places is None:
                return False
            if min(places) >= 0:
                self._add_up_in_room(elements, places)
                return True
        step = CHUNK // elements.itemsize
        for start in range(0, elements.size, step):
            self._add_up_piece(elements[start : start + step])
        return True

    # ---- in the room

    def _place(self, elements):
        """Where in this rank's row an array lies, in bytes; -1 if it doesn't."""
        array, place = self.placed
        if elements is array:
            return place
        if self.rows is None or elements.base is not self.rows.base:
            return -1
        place = address(elements) - self.begin
        if not 0 <= place <= self.rows.shape[1] - elements.nbytes:
            return -1
        self.placed = elements, place
        return place

    def _add_up_in_room(self, elements, places):
        key = *places, elements.size, elements.dtype
        if self.plan is None or self.plan[0] != key:
            own = shares(elements.size, elements.itemsize, self.comm.size)[self.comm.rank]
            ends = [place + elements.nbytes for place in places]
            parts = [row[place:end].view(elements.dtype)[own] for row, place, end in zip(self.rows, places, ends)]
            # in this rank's own row, where that is no longer needed when the first two have been added
            total = parts[self.comm.rank] if self.comm.rank < 2 else np.empty_like(parts[0])
            self.plan = key, parts, total, [part for part in parts if part is not total]
        _, parts, total, others = self.plan
        np.add(parts[0], parts[1], out=total)
        for part in parts[2:]:
            total += part
        for part in others:
            part[...] = total
        self.rendezvous.wait()

    # ---- on the board

    def _add_up_piece(self, piece):
        rank, turn = self.comm.rank, self.turn
        self.turn = (turn + 1) % SLOTS
        rows = [row[turn].view(piece.dtype)[: piece.size] for row in self.board]
        columns = shares(piece.size, piece.itemsize, self.comm.size)
        own = columns[rank]
        rows[rank][:] = piece
        self._meet()
        total = np.add(rows[0][own], rows[1][own], out=piece[own])
        for row in rows[2:]:
            total += row[own]
        rows[rank][own] = total
        self._meet()
        for other, part in enumerate(columns):
            if other != rank:
                piece[part] = rows[other][part]

    def _meet(self):
        if self.rendezvous is None:
            self.comm.meet()
        else:
            self.rendezvous.wait()


def address(array):
    return array.__array_interface__["data"][0]


def shares(size, itemsize, ranks):
    """The slice of `size` numbers that each rank adds up; they begin at cache lines.

    >>> shares(40, 4, 2)
    [slice(0, 32, None), slice(32, 40, None)]
    """
    share = -(-size * itemsize // (LINE * ranks)) * LINE // itemsize
    return [slice(min(rank * share, size), min((rank + 1) * share, size)) for rank in range(ranks)]
