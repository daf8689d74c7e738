"""`Stalls`: notices when the ranks of a run wait for each other, and says who waits where."""

import contextlib
import linecache
import os
import time

QUIET = 0.5  # seconds without news after which ranks are asked where they are
PERIOD = 0.5  # seconds between two questions
LONG = 3.0  # seconds of one wait from which on it counts
FRESH = 2.0  # seconds for which an answer is believed
SLOWEST_LINK = 1e8  # bytes/s: what is on its way may take so long


class Stalls:
    """Asks the ranks of a quiet run where they are.

    When every rank that has not ended is, and has been for some seconds, in one and the same wait for others, none of them will
    ever go on: the run is told so, once. (Most that wait only for each other find out sooner by themselves, see `Deadlock`.)
    Where only some wait, those they wait for are slow, and `Run.waiting_for` names them.

    Parameters
    ----------
    run : Run
    ask : callable
        ``ask(rank)``: a future whose result has the rank's `whereabouts` as "content".
    """

    def __init__(self, run, ask):
        self.run, self.ask = run, ask
        self.news, self.heard, self.next = 0, time.monotonic(), 0.0
        self.questions, self.seen, self.told = {}, {}, False  # seen, by rank: where, since when, and when it was said last

    def look(self, pending):
        """Ask, and judge by what was answered; to be called often, with the ranks that have not ended."""
        now = time.monotonic()
        news = len(self.run.records) + len(self.run.outcomes)
        if news != self.news or self.run.state == "paused" or self.run._interrupt_asked:
            self._forget(news, now)
        elif pending and now - self.heard > QUIET and now > self.next:
            self.next = now + PERIOD
            self._take(now)
            self._judge(sorted(pending), now)
            self.questions |= {rank: self.ask(rank) for rank in pending if rank not in self.questions}

    def _forget(self, news, now):
        """Something happens: nothing of what was seen counts any more."""
        self.news, self.heard, self.run._stalled = news, now, ""
        self.questions, self.seen, self.told = {}, {}, False

    def _take(self, now):
        """What was answered since the last time."""
        for rank in [rank for rank, answer in self.questions.items() if answer.done()]:
            where = _content(self.questions.pop(rank))
            if where is not None:
                same = rank in self.seen and self.seen[rank][0]["mark"] == where["mark"]
                self.seen[rank] = where, self.seen[rank][1] if same else now, now
        self.seen = {rank: entry for rank, entry in self.seen.items() if now - entry[2] < FRESH}

    def _judge(self, pending, now):
        waiting = [rank for rank in pending if self._waits(rank, now)]
        if len(waiting) == len(pending):
            self.run._stalled = deadlock(self.run.size, {rank: self.seen[rank][0] for rank in pending})
            if not self.told:
                self.told = True
                self.run._warn(self.run._stalled)
                self.news = len(self.run.records) + len(self.run.outcomes)
        else:
            where = {rank: self.seen[rank][0] if rank in self.seen else None for rank in pending}
            self.run._stalled = slowness(where, waiting) if waiting else ""

    def _waits(self, rank, now):
        """Whether a rank has been in one wait for long."""
        where, since, _ = self.seen.get(rank, ({"verb": ""}, now, now))
        return bool(where["verb"]) and now - since >= LONG + where["bytes"] / SLOWEST_LINK


def _content(answer):
    """What a rank answered; None if it could not say where it is: it has not begun, or has ended."""
    with contextlib.suppress(Exception):
        content = answer.result()["content"]
        return content if "verb" in content else None
    return None


def deadlock(size, where):
    """The text for ranks that wait for each other.

    >>> place = {"verb": "Recv", "file": "/home/job.py", "line": 3, "function": "job"}
    >>> print(deadlock(2, {0: place}))
    deadlock: no rank can go on, all have waited for 3 s: rank 0 waits in Recv (job.py, line 3, in job); rank 1 has ended.
    run.end() ends the run, the cluster stays
    """
    told = [f"rank {rank} {_waiting(where[rank]) if rank in where else 'has ended'}" for rank in range(size)]
    text = f"deadlock: no rank can go on, all have waited for {LONG:.0f} s: {'; '.join(told)}. "
    return text + "run.end() ends the run, the cluster stays"


def slowness(where, waiting):
    """The text for ranks of which only some wait: those they wait for come first.

    >>> place = {"verb": "", "file": "job.py", "line": 3, "function": "job", "compiles": False}
    >>> print(slowness({0: {**place, "verb": "Barrier"}, 1: place, 2: None}, [0]))
    rank 1, which computes (job.py, line 3, in job); rank 2, which doesn't answer;
    rank 0 waits in Barrier (job.py, line 3, in job)
    """
    slow = [f"rank {rank}, which {_doing(place)}" for rank, place in where.items() if rank not in waiting]
    return "; ".join(slow + [f"rank {rank} {_waiting(where[rank])}" for rank in waiting])


def _waiting(where):
    return f"waits in {where['verb']} ({_place(where)})"


def _doing(where):
    if where is None:
        return "doesn't answer"
    if where["compiles"]:
        return f"compiles ({_place(where)})"
    return f"{'communicates' if where['verb'] else 'computes'} ({_place(where)})"


def _place(where):
    """The line, with its text where it can be had: of a notebook's cells only here."""
    if not where["line"]:
        return "between two lines"
    text = linecache.getline(where["file"], where["line"]).strip()
    return f"{os.path.basename(where['file'])}, line {where['line']}, in {where['function']}" + (f": {text}" if text else "")
