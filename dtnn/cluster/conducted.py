"""A run as those see it who conduct it: the thread that watches, and the ranks."""

import contextlib
import contextvars
import sys
import threading
import time
from collections import deque

from ..records import Note, Paused, Recorder, Resumed, Stop, Weights
from .bounded import Bounded
from .ending import finish
from .outcome import Outcome

GRACE = 2.5  # seconds that ranks have to end after one failed or all were interrupted, before the run ends without them
LAST = 0.3  # seconds of them in which no records are waited for any more
OUTPUT = 100_000  # characters of printed text kept for each rank


class Conducted:
    """What is known of a run, what its ranks tell, and what was asked of them; `Run` adds what a user does with it.

    Parameters
    ----------
    size : int
        Number of ranks.
    name : str
        Of the job.
    rows : list of dict
        The ranks' descriptions.
    takes_commands : bool
        Whether the job is known to be a generator.
    """

    def __init__(self, size, name="job", rows=(), takes_commands=False):
        self.size, self.name, self.rows, self.takes_commands = size, name, list(rows), takes_commands
        self.views = []
        self.state, self.records, self.outcomes, self.output = "waiting", Recorder(), {}, {}
        self.error, self.story, self.stuck = None, "", []
        self._waiting_for, self._stalled, self._began = "", "", time.monotonic()
        self._changed, self._wake = threading.Condition(), threading.Event()
        self._ended, self._drained = threading.Event(), threading.Event()
        self._requests, self._callbacks = deque(), []
        self._stop_asked, self._interrupt_asked, self._first_end = False, False, None
        self._grace = GRACE
        self.steered = False  # whether somebody here has sent a command, and so can send another
        self._bounded, self.snapshots = Bounded(), {}  # the newest weights of each kind that was asked for

    @property
    def done(self):
        """Whether it has ended, well or not."""
        return self._ended.is_set()

    @property
    def results(self):
        """What the job returned on each rank; None where it has not, or didn't."""
        return [self.outcomes[rank].value if rank in self.outcomes else None for rank in range(self.size)]

    def _start(self, conduct):
        """Have `conduct(run)` see the run through, in a thread whose prints belong to this notebook cell."""
        thread = threading.Thread(target=contextvars.copy_context().run, args=(self._watch, conduct), daemon=True, name=self.name)
        thread.start()

    def _watch(self, conduct):
        try:
            conduct(self)
        except BaseException as error:
            self.error = self.error or error
        finally:
            finish(self)
            self._drained.set()

    def _request(self, kind, what):
        if not self.done:
            self._requests.append((kind, what))
            self._wake.set()

    def _take_requests(self):
        """What the user asked for since the last call."""
        while self._requests:
            yield self._requests.popleft()

    def _given_up(self, queued=False):
        """Whether the user wants it to end before it has begun; other requests stay for when it has.

        A run that waits for the one before it has nothing to end cleanly; for another the stop waits, too.
        """
        requests = list(self._take_requests())
        commands = [what for kind, what in requests if kind == "command"]
        self._requests.extendleft(("command", what) for what in reversed(commands))
        return len(commands) < len(requests) or (queued and any(isinstance(what, Stop) for what in commands))

    def _waits(self, text):
        self._waiting_for = text
        self._notify()

    def _running(self):
        self.state = "running"
        self._notify()

    def _tell(self, records, sizes=()):
        """Records have come; `sizes` are their bytes where known."""
        with self._changed:
            if not self.done:
                records, sizes = self._put_aside(records, sizes)
                self._bounded.make_room(self.records, sizes)
                self.records.extend(records)
                for record in records:
                    if isinstance(record, Paused | Resumed):
                        self.state = "paused" if isinstance(record, Paused) else "running"
                self._changed.notify_all()

    def _put_aside(self, records, sizes):
        """The records, and their sizes, without weights: these are large, and only the newest are of use."""
        for record in records:
            if isinstance(record, Weights):
                self.snapshots[record.rank, record.asked] = record
        left = [place for place, record in enumerate(records) if not isinstance(record, Weights)]
        return [records[place] for place in left], [sizes[place] for place in left] if sizes else sizes

    def _unheard(self, command):
        """The job takes no commands: a plain function can only be interrupted, and other wishes than its end come to nothing."""
        if isinstance(command, Stop):
            self._request("interrupt", None)
        else:
            self._tell([Note(0, time.time(), f"{self.name} is no generator, so it can't hear {command!r}")])

    def _warn(self, text):
        """Tell the user something that can't wait until he asks."""
        self._tell([Note(0, time.time(), text)])
        with contextlib.suppress(ValueError, OSError):
            print(text, file=sys.stderr, flush=True)

    def _printed(self, rank, text):
        self.output[rank] = (self.output.get(rank, "") + text)[-OUTPUT:]
        if rank == 0:
            with contextlib.suppress(ValueError, OSError):  # a closed stdout is no reason to lose the run
                sys.stdout.write(text)
                sys.stdout.flush()  # it is live in a pipe, too

    def _goes_down(self, outcome):
        """A rank ends, though not all that it told has come."""
        if outcome.state != "done":
            self._first_end = self._first_end or time.monotonic()

    def _end(self, outcome):
        """A rank has ended."""
        self.outcomes[outcome.rank] = outcome
        self._goes_down(outcome)
        self._wake.set()

    def _interrupting(self):
        """The ranks have been told to end now."""
        self._interrupt_asked = True
        self._first_end = self._first_end or time.monotonic()

    def _overdue(self):
        """Seconds since one rank ended badly, or the interrupt: how long the others have had time to end."""
        return time.monotonic() - self._first_end if self._first_end else 0.0

    @property
    def _hurries(self):
        """Whether the user has waited for the run's end nearly as long as he is to."""
        return self._overdue() > self._grace - LAST

    def _tick(self):
        """End the run for the user when ranks don't end that should have; the next run waits for them."""
        if self._overdue() > self._grace and not self.done:
            self.stuck = [rank for rank in range(self.size) if rank not in self.outcomes]
            for rank in self.stuck:
                self.outcomes[rank] = Outcome(rank, "interrupted", waited="a call that can't be interrupted, and still does")
            finish(self)

    def _notify(self):
        with self._changed:
            self._changed.notify_all()
