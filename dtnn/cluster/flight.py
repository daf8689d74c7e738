"""One run on engines, from the moment all are ready: what comes from the ranks, and what goes to them."""

import base64
import contextlib
import pickle
import time
from collections import deque

from .parcel import pack
from .stalls import Stalls

TICK = 0.05  # seconds between two looks at what came, unless something wakes us
LOOK = 0.005  # ... while records are waited for, of which nothing wakes us
SECOND_LINE = 0.7  # seconds after which ranks that didn't hear of another's failure are interrupted from here
THIRD_LINE = 1.1  # ... and those that didn't hear that either get a signal
LATE_RECORDS = 3.0  # seconds to wait for records that a result has overtaken; less where the run is to end


class Flight:
    """The second phase of a run.

    Parameters
    ----------
    engines : Engines
    run : Run
    number : int
        Of the run, on this cluster.
    answers : list
        Of the ranks, to `engine.execute`.

    Attributes
    ----------
    clean : bool
        Whether all ranks that have ended so far ended well.
    """

    def __init__(self, engines, run, number, answers):
        self.engines, self.run, self.number, self.clean = engines, run, number, True
        self.answers = answers
        self.read = [0] * engines.size  # batches of each rank
        self.pending, self.landing = set(range(engines.size)), {}  # landing, by rank: what it answered, and when that came
        self.told, self.signalled = False, False
        self.commands, self.asked = deque(), None  # to be told; the one that is being told, and the reply
        self.stalls = Stalls(run, lambda rank: engines.message(rank, "where", number))

    def see_through(self):
        """Until all ranks have ended, however long that takes; nothing that is waited for here keeps anything else waiting."""
        while self.pending:
            self.run._wake.wait(LOOK if self.landing else TICK)
            self.run._wake.clear()
            self._serve()
            for rank in sorted(self.pending):
                self._read(rank)
                self._land(rank)
            self.stalls.look(self._flying)
            self._insist()
            self.run._tick()

    @property
    def _flying(self):
        """Ranks that have not answered."""
        return self.pending - self.landing.keys()

    # ---- down: what the user asks for

    def _serve(self):
        for kind, command in self.run._take_requests():
            if kind == "interrupt":
                self.run._interrupting()
                self._interrupt()
            else:
                self.commands.append(command)
        if self.asked is not None and self.asked[1].done():
            self._hear(*self.asked)
            self.asked = None
        if self.asked is None and self.commands:
            self._tell(self.commands.popleft())

    def _tell(self, command):
        """One at a time: what rank 0 could not hear yet must not be overtaken by what was asked later."""
        packed = base64.b64encode(pack(command)).decode()
        reply = self.engines.message(0, "command", self.number, command=packed)
        self.asked = command, reply
        reply.add_done_callback(lambda _: self.run._wake.set())

    def _hear(self, command, reply):
        """A job that takes no commands, a plain function, can only be interrupted; one that hasn't begun is told again."""
        with contextlib.suppress(Exception):
            answer = reply.result()["content"]
            if not answer["begun"]:
                self.commands.appendleft(command)
            elif not answer["heard"] and not self.run.takes_commands:
                self.run._unheard(command)

    def _interrupt(self):
        self.told = True
        for rank in self._flying:
            self.engines.message(rank, "interrupt", self.number)

    def _insist(self):
        """Those who don't end although another failed, or although they were told to, are told again, louder."""
        overdue = self.run._overdue() if self.pending else 0.0
        if overdue > SECOND_LINE and not self.told:
            self._interrupt()
        if overdue > THIRD_LINE and not self.signalled:
            self.signalled = True
            for rank in self._flying:
                self.engines.signal(rank)

    # ---- up: what the ranks tell

    def _read(self, rank):
        """Hand on what has come of a rank's records, and forget it: the client keeps what isn't taken out."""
        data = self.answers[rank].data
        while str(self.read[rank]) in data:
            batch = pickle.loads(data.pop(str(self.read[rank])))
            self.read[rank] += 1
            self._hand_on(rank, batch)

    def _hand_on(self, rank, batch):
        packed = [record for kind, record in batch if kind == "record"]
        self.run._tell([_record(data) for data in packed], list(map(len, packed)))
        text = "".join(text for kind, text in batch if kind == "text")
        if text:
            self.run._printed(rank, text)

    def _land(self, rank):
        """A rank that has ended: take its outcome when its last records have come, or should have."""
        if rank not in self.landing and (self.answers[rank].ready() or self.engines.silent(rank)):
            self.landing[rank] = *self.engines.outcome(rank, self.answers[rank]), time.monotonic()
            self.run._goes_down(self.landing[rank][0])
        outcome, batches, rest, since = self.landing.get(rank, (None, 0, [], 0.0))
        if outcome is None or (self.read[rank] < batches and not self._is_late(since)):
            return
        self.pending.discard(rank)
        del self.landing[rank]
        if self.read[rank] < batches:
            self.run._tell([Unreadable(f"{batches - self.read[rank]} batches of rank {rank}'s records were lost on their way")])
        self._hand_on(rank, rest)
        self.clean = self.clean and outcome.state == "done"
        self.run._end(outcome)

    def _is_late(self, since):
        """Whether records of a rank that has answered then are waited for no longer: the user wants to go on, too."""
        return time.monotonic() - since > LATE_RECORDS or self.run._hurries


def _record(data):
    """A record as it was told; what can't be made again here must not end the run."""
    try:
        return pickle.loads(data)
    except Exception as error:
        return Unreadable(f"{type(error).__name__}: {error}")


class Unreadable(str):
    """Stands for a record that could not be made again on the client: why not."""
