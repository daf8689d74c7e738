"""Where ranks that are threads meet: a letter box for each rank, and the meetings that they are to come to."""

from collections import defaultdict

from .failures import RankFailed
from .meeting import Meeting
from .waits import Wait, Waits

LONGEST_WAIT = 1.0  # seconds: an interrupt is not seen during a wait on every system, and who polls rings no bell


class Room:
    """What the ranks of one group, or of a part of it, share.  Every method may be called by any thread.

    Parameters
    ----------
    size : int
        How many ranks.
    house : Room, optional
        The room that these ranks also belong to: what ends a wait there ends one here.
    places : list of int
        Their ranks there.

    Attributes
    ----------
    ranks : list of int
        Their ranks in the group that all this is a part of.
    """

    def __init__(self, size, house=None, places=()):
        self.size, self.house, self.places = size, house, places
        self.ranks = [house.ranks[place] for place in places] if house else list(range(size))
        self.waits = house.waits if house else Waits(size)
        self.lock, self.bells = self.waits.lock, [self.waits.bells[rank] for rank in self.ranks]
        self.letters, self.posted = [defaultdict(list) for _ in range(size)], 0
        self.meetings, self.attended = {}, [0] * size
        self.left, self.interrupted, self.failure = [False] * size, [False] * size, None

    def post(self, letter):
        """Put a letter into the box of the rank it is for."""
        with self.lock:
            self._check(letter.source)
            self.waits.end_poll(self.ranks[letter.source])
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
            self.waits.end_poll(self.ranks[rank])
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
        place = self.ranks[rank]
        with self.lock:
            self.waits.end_poll(place)
            self._check(rank, condition())
            while not condition():
                self.waits.waits[place] = Wait(self, rank, condition, what)
                try:
                    self.waits.look_for_deadlock(self)
                    self._check(rank)
                    self.bells[rank].wait(LONGEST_WAIT)
                finally:
                    self.waits.waits[place] = None
                self._check(rank, condition())

    def poll(self, rank, meet):
        """Note that a rank has asked in vain after a request; who does nothing else for long waits for it."""
        with self.lock:
            self.waits.poll(self, rank, meet)

    def end_poll(self, rank):
        """Note that a rank does something else."""
        self.waits.end_poll(self.ranks[rank])

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

    def would_end(self, rank):
        """Whether a wait of this rank would end with an error."""
        try:
            self._check(rank)
        except BaseException:
            return True
        return False

    def has_left(self, rank):
        """Whether a rank will do no more."""
        return self.left[rank] or (self.house is not None and self.house.has_left(self.places[rank]))

    def gone(self):
        """The ranks that will do no more."""
        return [rank for rank in range(self.size) if self.has_left(rank)]
