"""Where ranks that are threads meet: one lock, a letter box for each rank, and who waits for what."""

import threading
from collections import defaultdict

from .checked import described
from .failures import Deadlock, RankFailed
from .meeting import Meeting


class Room:
    """What the ranks of one group share.  Every method may be called by any thread.

    A wait is a condition and a text (what it waits for).  All conditions can only be made true by ranks, so when every
    rank that is still there waits and no condition is true, no condition ever will be: a deadlock, known at once.

    Parameters
    ----------
    size : int
        How many ranks.
    house : Room, optional
        The room that these ranks also belong to: what ends a wait there ends one here.
    places : list of int
        Their ranks there.
    """

    def __init__(self, size, house=None, places=()):
        self.size, self.house, self.places = size, house, places
        self.longest_wait = 0.1 if house else 1.0  # nobody rings here for what happens in the house
        self.lock = threading.Lock()
        self.bells = [threading.Condition(self.lock) for _ in range(size)]  # one each: a message wakes one thread, not all
        self.letters, self.posted = [defaultdict(list) for _ in range(size)], 0
        self.meetings, self.attended = {}, [0] * size
        self.waits, self.left = [None] * size, [False] * size
        self.interrupted, self.failure = [False] * size, None

    def post(self, letter):
        """Put a letter into the box of the rank it is for."""
        with self.lock:
            self._check(letter.source)
            letter.number = self.posted = self.posted + 1
            self.letters[letter.dest][letter.source, letter.tag].append(letter)
            self.bells[letter.dest].notify()
        return letter

    def sign(self, letter):
        """Let the sender of a letter go on."""
        with self.lock:
            letter.received = True
            self.bells[letter.source].notify()

    def come(self, rank, asked, elements):
        """The next meeting of a rank: the n-th collective of each rank is the same meeting."""
        with self.lock:
            self._check(rank)
            number = self.attended[rank]
            self.attended[rank] += 1
            meeting = self.meetings.setdefault(number, Meeting(self.size))
            meeting.asked[rank], meeting.arrays[rank] = asked, elements
            if meeting.is_full():
                del self.meetings[number]
                self.failure = self.failure or meeting.mismatch()
                self._ring()
        return meeting

    def hand_in(self, rank, meeting, part):
        """Note that a rank has done its share of a meeting, and what came of it."""
        with self.lock:
            meeting.parts[rank] = part
            meeting.done += 1
            if meeting.is_done():
                self._ring()

    def wait(self, rank, condition, what):
        """Return when `condition()` is true; meanwhile, end with an error for each reason there is to.

        What all have come to is ended, although one of them has failed since.
        """
        with self.lock:
            self._check(rank, condition())
            while not condition():
                self.waits[rank] = (condition, what)
                try:
                    self._look_for_deadlock(rank)
                    self.bells[rank].wait(self.longest_wait)  # an interrupt is not seen during a wait on every system
                finally:
                    self.waits[rank] = None
                self._check(rank, condition())

    def check(self, rank):
        """Raise what a wait of this rank would raise."""
        with self.lock:
            self._check(rank)

    def fail(self, rank, reason):
        """End all waits of the others with `RankFailed`; the first failure counts."""
        with self.lock:
            self.failure = self.failure or RankFailed(rank, reason)
            self._ring()

    def leave(self, rank):
        """A rank will do no more; if that leaves the others waiting for it, they are told."""
        with self.lock:
            self.left[rank] = True
            self._ring()

    def interrupt(self, ranks):
        """End the present or next wait of these ranks with KeyboardInterrupt."""
        with self.lock:
            for rank in ranks:
                self.interrupted[rank] = True
                self.bells[rank].notify()

    def _ring(self):
        for bell in self.bells:
            bell.notify()

    def _check(self, rank, ended=False):
        if self.house:
            self.house._check(self.places[rank], ended)
        if self.interrupted[rank]:
            raise KeyboardInterrupt
        if isinstance(self.failure, RankFailed):
            if self.failure.rank != rank and not ended:
                raise RankFailed(self.failure.rank, self.failure.reason)
        elif self.failure:
            raise type(self.failure)(*self.failure.args)

    def _has_left(self, rank):
        return self.left[rank] or bool(self.house and self.house._has_left(self.places[rank]))

    def _look_for_deadlock(self, rank):
        there = [r for r in range(self.size) if not self._has_left(r)]
        if all(self.waits[r] and not self.waits[r][0]() and not self.interrupted[r] for r in there):
            lines = [f"rank {r} waits {self.waits[r][1]}" if r in there else f"rank {r} has ended" for r in range(self.size)]
            self.failure = Deadlock("; ".join(lines) + ": none of them can go on")
            self._ring()
            self._check(rank)


class Letter:
    """An array on its way from one rank to another."""

    def __init__(self, source, dest, tag, array, elements):
        self.source, self.dest, self.tag, self.array, self.elements = source, dest, tag, array, elements
        self.received, self.number = False, 0

    def is_received(self):
        return self.received

    def __lt__(self, other):
        """Whether it was posted earlier."""
        return self.number < other.number

    def __str__(self):
        return f"{described(self.array)} to rank {self.dest} (tag {self.tag})"
