"""`Standstill`: how ranks of MPI find out that they wait only for each other."""

import itertools
import json
import time
from collections import Counter

import numpy as np

from .failures import Deadlock

TAG = 11
LETTERS, NUMBERS = {}, itertools.count()  # what may not have left yet, apart from what ranks wait for, for others look there
PERIOD = 0.02  # seconds between two looks
GOODBYE = 0.5  # seconds that a rank which ends waits for the others' ends, lest letters are left over
ENDED = "ended"  # in place of a wait
CREDIT = 16  # letters to a rank that has not been heard of since: one that computes all the time reads none


class Standstill:
    """What the ranks that have waited long have told each other, on one rank.

    Who has waited for a second tells all others: in which wait it is, and how often it has done by now what they may need.  So
    each finds out which of those that it waits for wait themselves, and have not done what it needs: it is kept waiting by
    them.  It tells that, too. Where ranks are kept waiting only by such ranks, none of them can be the first to go on.

    A rank that computes says nothing, so whoever waits for it is not in doubt, however long it takes. One whose process ends
    says so, and does no more.

    Parameters
    ----------
    comm : MPI
        The whole; its parts look here, too.
    beside : mpi4py.MPI.Comm or None
        Where ranks tell each other; None: nobody looks for anything.

    Notes
    -----
    A wait that ends within a second costs nothing. A longer one costs a letter of some hundred bytes to each rank.

    Why that is no mistake: be r the first of those ranks to leave its wait. It was let go by a rank q that did what r needs after
    q had said that it waits and has not done it. So q had left its wait before, and r was not the first.
    """

    def __init__(self, comm, beside):
        self.comm, self.beside, self.members = comm, beside, {"": comm}
        self.status = comm.library.Status()
        self.heard, self.told, self.unheard = {}, {}, Counter()
        self.leaving, self.next = {}, 0.0

    def enter(self, comm):
        """Another part of the whole, or it itself: the numbers that its ranks have there."""
        if comm is self.comm:
            return range(comm.size)
        self.members[comm.name] = comm
        groups = comm.world.Get_group(), self.comm.world.Get_group()
        ranks = comm.library.Group.Translate_ranks(groups[0], range(comm.size), groups[1])
        for group in groups:
            group.Free()
        return list(ranks)

    def leave(self, comm):
        """That part has been given back."""
        self.members.pop(comm.name, None)

    def look(self, comm, wait, need):
        """To be called again and again in a wait that has lasted long; raises `Deadlock` if it can't end.

        Parameters
        ----------
        comm : MPI
            This, or a part of it.
        wait : int
            Which it is, of all waits of this process.
        need : callable
            Gives the `Need`.
        """
        now = time.perf_counter()
        if (self.beside is None and self.comm.size > 1) or now < self.next:
            return
        self.next = now + PERIOD
        self.listen()
        own = self._own(comm, wait, need())
        self._tell(own)
        stuck = kept_waiting(self.heard | {self.comm.rank: own})
        if self.comm.rank in stuck:
            comm.spoil()
            self.comm.spoil()
            lines = [f"rank {rank} {stuck[rank]['words']}" for rank in sorted(stuck)]
            raise Deadlock("; ".join(lines) + ": none of them can go on")

    def listen(self):
        """Take in what others have told."""
        while self.beside is not None and self.beside.Iprobe(tag=TAG, status=self.status):
            letters = np.empty(self.status.Get_count(self.comm.library.BYTE), np.uint8)
            self.beside.Recv(letters, self.status.source, TAG)
            self.heard[self.status.source] = json.loads(letters.tobytes())
            self.unheard[self.status.source] = 0

    def end(self):
        """This process ends, so who waits for more from it waits in vain; returns soon, whatever the others do."""
        if self.comm.library.Is_finalized():
            return
        self.listen()
        own = {"wait": ENDED, "words": "has ended", "by": [], "least": 0}
        others = {rank for rank in range(self.comm.size) if rank != self.comm.rank}
        for rank in others - self._ended():
            self._post(json.dumps(own | {"done": self._done(rank)}), rank)
        until = time.perf_counter() + GOODBYE
        while others - self._ended() and time.perf_counter() < until:
            time.sleep(0.0005)
            self.listen()

    def _ended(self):
        return {rank for rank, there in self.heard.items() if there["wait"] == ENDED}

    def _own(self, comm, wait, need):
        """What is to be told of this rank's wait: to all, but for what it has done."""
        by, names = [], comm.ranks
        for rank, what, times in need.of:
            there = {"wait": wait, "done": self._done(names[rank])} if rank == comm.rank else self.heard.get(names[rank])
            if there is not None and there["done"].get(f"{comm.name} {what}", 0) < times:
                by.append((names[rank], there["wait"]))
        words = "waits " + need.words.replace("{}", _ranks([names.index(rank) for rank, _ in by]))
        words += f", as rank {comm.rank} of the part of {_ranks(names)}" if comm.name else ""
        return {"wait": wait, "words": words, "by": by, "least": len(need.of) if need.anybody else 1}

    def _done(self, rank):
        """How often this rank has done what another, by its number in the whole, may need."""
        return {f"{name} {what}": times for name, comm in self.members.items() for what, times in comm.done_for(rank)}

    def _tell(self, own):
        """Tell everybody what has changed since they were told."""
        for rank in range(self.comm.size):
            if rank == self.comm.rank or self.unheard[rank] >= CREDIT:
                continue
            text = json.dumps(own | {"done": self._done(rank)})
            if self.told.get(rank) != text:
                self.told[rank] = text
                self.unheard[rank] += 1
                self._post(text, rank)

    def _post(self, text, rank):
        for number in [number for number, request in self.leaving.items() if request.Test()]:
            del self.leaving[number], LETTERS[number]
        number, letters = next(NUMBERS), np.frombuffer(text.encode(), np.uint8)
        LETTERS[number] = letters
        self.leaving[number] = self.beside.Isend(letters, rank, TAG)


def kept_waiting(said):
    """Those of the ranks that are kept waiting only by each other.

    Parameters
    ----------
    said : dict of int to dict
        Of each rank: its wait, by whom and in which wait of theirs it is kept waiting, and how many of them it takes.

    Returns
    -------
    dict of int to dict
        The part of it that remains.

    Examples
    --------
    >>> first, second = dict(wait=5, by=[(1, 7)], least=1), dict(wait=7, by=[(0, 5)], least=1)
    >>> sorted(kept_waiting({0: first, 1: second}))
    [0, 1]
    >>> kept_waiting({0: first, 1: second | dict(wait=8)})
    {}
    """
    left = dict(said)
    while free := [rank for rank, own in left.items() if _still(own, left) < own["least"]]:
        for rank in free:
            del left[rank]
    return left


def _still(own, left):
    """How many of those that keep a rank waiting are themselves still in the same wait."""
    return sum(rank in left and left[rank]["wait"] == wait for rank, wait in own["by"])


def _ranks(numbers):
    """As in "rank 1" or "ranks 0, 2"."""
    return f"rank{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}" if numbers else "others"
