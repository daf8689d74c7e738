"""Ranks as threads of this process: the whole of MPI's behaviour that a class needs, with no MPI, and nothing hidden.

A `Send` waits until it has been received, so a program that would hang on a large cluster hangs here too; but here
somebody notices: every wait knows what it waits for, and ranks that wait only for each other are told who waits for whom.
"""

from functools import partial

import numpy as np

from .checked import described, known_color, known_key, known_rank, known_tag
from .flat import flat, number_or_array, put_back, reducible
from .letter import Letter
from .meeting import Meet
from .room import Room


class Threads:
    """The communicator of one rank of a `group`.

    Sums are taken in order of rank, each rank adding up its own slice of everybody's arrays, then all copy all slices: the
    result has the same bits on all ranks and in every run.

    >>> from dtnn.comm import run_threads
    >>> run_threads(lambda comm: type(comm).__name__, 2)
    ['Threads', 'Threads']
    """

    def __init__(self, room, rank):
        self._room, self.rank, self.size = room, rank, room.size
        self.bytes, self.under_way = 0, []

    def Send(self, array, dest, tag=0):
        letter = self._post(array, dest, tag)
        self.wait(letter.is_received, f"to send {letter}")

    def Recv(self, array, source, tag=0):
        known_rank(source, self.size, "source")
        known_tag(tag)
        elements = flat(array, writeable=True)
        box = self._room.letters[self.rank][source, tag]
        self.wait(box.__len__, f"to receive {described(array)} from rank {source} (tag {tag})")
        letter = box.pop(0)
        try:
            letter.check(array)
            elements[...] = letter.elements
        finally:
            self._room.sign(letter)
        put_back(elements, array)

    def Probe(self, tag=0):
        known_tag(tag)
        boxes = self._room.letters[self.rank]

        def first():
            return min((box[0] for (_, theirs), box in list(boxes.items()) if box and theirs == tag), default=None)

        self.wait(first, f"for a message from anybody (tag {tag})")
        return first().source

    def Sendrecv(self, sent, dest, received, source, tag=0):
        letter = self._post(sent, dest, tag)
        self.Recv(received, source, tag)
        self.wait(letter.is_received, f"to send {letter}")

    def Bcast(self, array, root=0):
        known_rank(root, self.size, "root")
        elements = flat(array, writeable=True)

        def copy(arrays):
            if self.rank != root:
                elements[...] = arrays[root]
                put_back(elements, array)

        self._meet(f"Bcast from rank {root}", array, elements, copy).Wait()
        return array

    def Allreduce(self, array, op="sum"):
        value, plain = number_or_array(array)
        self.Iallreduce(value, op).Wait()
        return value.item() if plain else array

    def Iallreduce(self, array, op="sum"):
        elements = reducible(array, op)
        mine = partial(_slice, elements.size, self.size)

        def copy(slices):
            for rank, values in enumerate(slices):
                elements[mine(rank)] = values
            put_back(elements, array)

        reduce = partial(_reduced, mine(self.rank), {"sum": np.add, "max": np.maximum, "min": np.minimum}[op])
        return self._meet(f"Allreduce {op}", array, elements, reduce, copy)

    def Gather(self, array, root=0):
        known_rank(root, self.size, "root")
        stacked = []

        def stack(arrays):
            if self.rank == root:
                stacked.append(np.stack(arrays).reshape(self.size, *array.shape))

        self._meet(f"Gather to rank {root}", array, flat(array), stack).Wait()
        return stacked[0] if stacked else None

    def Barrier(self):
        self._meet("Barrier").Wait()

    def Split(self, color, key=0):
        color, key = known_color(color), known_key(key)
        asked = np.array([-1 if color is None else color, key])
        groups = {}

        def gather(arrays):
            for rank in sorted(range(self.size), key=lambda rank: (arrays[rank][1], rank)):
                groups.setdefault(int(arrays[rank][0]), []).append(rank)
            mine = groups[int(asked[0])]
            return Room(len(mine), self._room, mine) if mine[0] == self.rank else None

        rooms = []
        self._meet("Split", None, asked, gather, rooms.extend).Wait()
        if color is None:
            return None
        members = groups[color]
        return Threads(rooms[members[0]], members.index(self.rank))

    def Free(self):
        pass

    def fail(self, reason):
        self._room.fail(self.rank, reason)

    def look(self):
        """Raise what a wait has to end with, if there is anything."""
        self._room.check(self.rank)

    def wait(self, condition, what):
        """Return when `condition()` is true; meanwhile this rank does its share in all that is under way, as MPI does."""
        while True:
            self._room.wait(self.rank, lambda: condition() or any(meet.can_work() for meet in self.under_way), what)
            for meet in [meet for meet in self.under_way if meet.can_work()]:
                meet.do_work()
            if condition():
                return

    def poll(self, meet):
        """Say that this rank has asked in vain after a request."""
        self._room.poll(self.rank, meet)

    def end_poll(self):
        """Say that it goes on with something else."""
        self._room.end_poll(self.rank)

    def tell_done(self, meeting, part):
        """Hand in this rank's share of a meeting."""
        self._room.hand_in(self.rank, meeting, part)

    def leave(self):
        """Say that this rank will not communicate any more: whoever waits for it is told so instead of waiting for ever."""
        self._room.leave(self.rank)

    def interrupt(self, rank=None):
        """Make the wait that `rank` (None: every rank) is in, or begins next, end with KeyboardInterrupt; from any thread."""
        self._room.interrupt(range(self.size) if rank is None else [known_rank(rank, self.size, "rank")])

    def _post(self, array, dest, tag):
        known_tag(tag)
        elements = flat(array)
        self._count(elements)
        return self._room.post(Letter(self.rank, known_rank(dest, self.size, "dest"), tag, array, elements))

    def _meet(self, verb, array=None, elements=None, work=None, finish=None):
        if elements is not None:
            self._count(elements)
        asked = verb if array is None else f"{verb} of {described(array)}"
        return Meet(self, self._room.come(self.rank, asked, elements), work, finish)

    def _count(self, elements):
        if self.size > 1:
            self.bytes += elements.nbytes


def _slice(length, size, rank):
    return slice(length * rank // size, length * (rank + 1) // size)


def _reduced(part, operation, arrays):
    first, *others = (array[part] for array in arrays)
    total = first.copy()
    for other in others:
        operation(total, other, out=total)
    return total
