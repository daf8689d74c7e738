"""`Waits`: what each rank of a group of threads waits for, in whichever of its parts, and who waits in vain."""

import threading
import time
from dataclasses import dataclass

from .failures import Deadlock

POLLED_IN_VAIN = 3.0  # seconds: who has asked for so long after the same requests, and done nothing else, waits
POLLS_STILL = 1.0  # seconds: who has not asked for so long does something else


@dataclass
class Wait:
    """A condition that a rank waits for in a room; `what` says it in words, such as "for rank 1 to join in Barrier"."""

    room: object
    rank: int
    condition: object
    what: object

    def goes_on(self):
        """Whether it is over, or about to end with an error."""
        return self.condition() or self.room.would_end(self.rank)

    def __str__(self):
        part = f", as rank {self.rank} of the part of ranks {_listed(self.room.ranks)}" if self.room.house else ""
        return f"waits {self.what}{part}"


class Waits:
    """One lock for a group and all its parts, a bell for each rank, and who waits for what.

    All conditions can only be made true by ranks of the room that the wait is in. So where ranks wait only for ranks that wait
    themselves, or have ended, none of them will ever go on: a deadlock, known at once, whatever others still do.

    Parameters
    ----------
    size : int
        Ranks of the group.
    """

    def __init__(self, size):
        self.lock = threading.Lock()
        self.bells = [threading.Condition(self.lock) for _ in range(size)]  # one each: a message wakes one thread, not all
        self.waits, self.polls = [None] * size, [None] * size

    def end_poll(self, rank):
        """This rank does something else than to ask after requests."""
        self.polls[rank] = None

    def poll(self, room, rank, meet):
        """This rank has asked after a request that has not ended; under the lock."""
        place = room.ranks[rank]
        poll = self.polls[place] = self.polls[place] or Poll(room, rank)
        poll.asked_after[id(meet)], poll.last = meet, time.monotonic()
        if poll.seems_to_wait():
            self.look_for_deadlock(room)

    def look_for_deadlock(self, room):
        """Give all those who can't go on the error that says so, if there are any in a room; under the lock."""
        for rank, place in enumerate(room.ranks):
            wait = self.waits[place] or self.polls[place]
            if wait.goes_on() if wait else not room.has_left(rank):
                return  # the usual case: somebody is still at work
        stuck = self._stuck()
        if not stuck:
            return
        rooms = {id(wait.room): wait.room for wait in stuck.values()}.values()
        ended = {room.ranks[rank] for room in rooms for rank in room.gone()}
        lines = [f"rank {rank} {stuck.get(rank, 'has ended')}" for rank in sorted(ended | set(stuck))]
        error = Deadlock("; ".join(lines) + ": none of them can go on")
        for rank, wait in stuck.items():
            wait.room.failure = wait.room.failure or error
            self.bells[rank].notify()

    def _stuck(self):
        """{rank: Wait} of those who wait only for each other, or for ranks that have ended."""
        waits = {place: self.waits[place] or self.polls[place] for place in range(len(self.waits))}
        stuck = {place: wait for place, wait in waits.items() if wait and not wait.goes_on()}
        while free := [rank for rank, wait in stuck.items() if not _only(wait.room, stuck)]:
            for rank in free:
                del stuck[rank]
        return stuck


class Poll(Wait):
    """A rank that asks after requests, again and again."""

    def __init__(self, room, rank):
        self.asked_after, self.begun, self.last = {}, time.monotonic(), 0.0
        super().__init__(room, rank, self._moves, None)

    def seems_to_wait(self):
        """Whether it has done nothing else for a while, and still does."""
        return self.last - self.begun > POLLED_IN_VAIN and time.monotonic() - self.last < POLLS_STILL

    def goes_on(self):
        """Whether it may do something else, too, or its requests move."""
        return not self.seems_to_wait() or super().goes_on()

    def _moves(self):
        return any(meet.can_work() or meet.meeting.is_done() for meet in self.asked_after.values())

    def __str__(self):
        self.what = next(iter(self.asked_after.values())).meeting
        return f"{super().__str__()}, asking again and again"


def _only(room, stuck):
    """Whether all ranks of a room are among those, or have ended."""
    gone = room.gone()
    return all(place in stuck or rank in gone for rank, place in enumerate(room.ranks))


def _listed(ranks):
    return ", ".join(map(str, ranks))
