"""What a rank has told of a run before its client came."""

import contextlib
import pickle
import time

from .outcome import Outcome, pack_outcome

AGAIN = 0.1  # seconds until a rank is asked again for what it has told
LATE = 5.0  # seconds after which a rank that hasn't begun a run that others do never will


class Retold:
    """What a rank tells of a run to a client that did not ask for it: looks like the answer to the one that did.

    Parameters
    ----------
    engines : Engines
    run : Run
    rank, number : int
        Whose, and of which run.

    Attributes
    ----------
    data : dict
        Batches of records that have come, as `AsyncResult.data` has them.
    """

    def __init__(self, engines, run, rank, number):
        self.engines, self.run, self.rank, self.number = engines, run, rank, number
        self._data, self._next, self._answer, self._outcome, self._due = {}, 0, None, None, 0.0
        self._began = time.monotonic()

    @property
    def data(self):
        """What has come, and was not taken out; asks for more."""
        if self._answer is not None and self._answer.done():
            self._take(self._answer)
            self._answer = None
        if self._answer is None and self._outcome is None and time.monotonic() >= self._due:
            self._answer = self.engines.message(self.rank, "kept", self.number, first=self._next)
            self._answer.add_done_callback(lambda _: self.run._wake.set())
        return self._data

    def ready(self):
        """Whether the run has ended there, and all of its batches have come."""
        return self._outcome is not None

    def get(self, timeout=None):
        """What the engine answered: how many batches, the packed outcome, the rest."""
        return self._outcome

    def _take(self, answer):
        self._due = time.monotonic() + AGAIN
        with contextlib.suppress(Exception):
            message = answer.result()
            told, batches = message["content"], [bytes(buffer) for buffer in message["buffers"]]
            if told["run"] != self.number:
                self._missed()
            elif told["ended"]:
                self._outcome = pickle.loads(batches[0])
            else:
                self._data.update((str(place), batch) for place, batch in enumerate(batches, self._next))
                self._next += len(batches)
                self._due = 0.0 if batches else self._due

    def _missed(self):
        """The client died while it told the ranks of the run; this one has not heard of it."""
        if time.monotonic() - self._began > LATE:
            self._outcome = 0, pack_outcome(Outcome(self.rank, "interrupted", waited="the run to be told to it")), []
