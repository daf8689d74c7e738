"""Ranks that are ipyparallel engines under one mpiexec."""

import contextlib
import itertools
import os
import signal
import sys
import time

from ..shell import shell
from . import engine, greeting, vital_signs
from .boarding import boarding
from .flight import Flight
from .outcome import Outcome, unpack_outcome
from .retold import Retold
from .vanished import Vanished

AT_ONCE = 0.3  # seconds that a table may wait for a rank's answer
WARM = {"dtnn.model"}  # with all that a training imports, if it is known here; not what draws, which would be 27 MB a rank


class Engines:
    """Conducts runs on engines.

    Parameters
    ----------
    processes : Processes or Borrowed
        How there come to be engines, and what is known of them.
    size : int, optional
        Ranks; as many as there are engines, if nothing is said.
    timeout : float
        Seconds that the start may take.
    """

    def __init__(self, processes, size, timeout):
        self.processes, self.size, self.timeout = processes, size, timeout
        self.client, self.stopped = None, False
        self.hellos, self.ids = [], []  # by rank
        # of runs: they grow from one client of these engines to the next
        self._numbers, self._fresh, self._lost_since = itertools.count(int(time.time() * 1000)), processes.adopted, None
        self._vanished = Vanished([])
        self._heard = False  # whether what they publish arrives here

    # ---- life

    def start(self, waits):
        """Start everything, or nothing: what was started before an error is ended again."""
        try:
            self.client = self.processes.connect(self.timeout, waits)
            self.size = self.size or len(self.client.ids)
            waits(f"{self.size} engines to say who they are")
            self._greet()
            if self._own_client and shell() is not None:
                self.client.activate()  # %px and %%px are for these engines
        except BaseException:
            self.stop()
            raise

    def _greet(self):
        """Ask each engine who it is, and see that they make one MPI world."""
        adopted = self.processes.adopted
        self.ids, self.hellos = greeting.introduced(self.client, self.size, adopted, self.timeout)
        self._vanished = Vanished(self.hellos)
        if not adopted:
            self._listen()
            for ident in self.ids:
                self.client[ident].apply_async(engine.warm, ["numba", *(WARM & sys.modules.keys())])

    def _listen(self, given_up=lambda: False):
        self._heard = self._heard or greeting.heard(self.client, self.ids, self.timeout, given_up)

    def stop(self):
        """End what was started, whatever it does."""
        self.stopped = True
        if self.client is not None and self._own_client:
            with contextlib.suppress(Exception):
                self.client.close(linger=0)
        self.processes.end()
        self.client = None

    @property
    def _own_client(self):
        """Whether the client was made here, and not handed over."""
        return self.client is not getattr(self.processes, "ready", None)

    @property
    def folder(self):
        """Where the files of the cluster are, if it is one of ours."""
        return self.processes.folder

    # ---- looks

    def rows(self):
        """One description a rank, by rank."""
        return [{name: hello[name] for name in ("rank", "host", "pid", "cores", "threads")} for hello in self.hellos]

    def memory(self):
        """Bytes that each rank's process has in memory; None for one that doesn't answer at once."""
        dead = self.dead()
        asked = [None if rank in dead else self.message(rank, "state", 0) for rank in range(self.size)]
        return [answer and _bytes(answer) for answer in asked]

    dead, check, epitaph, silent = vital_signs.dead, vital_signs.check, vital_signs.epitaph, vital_signs.silent

    # ---- runs

    def conduct(self, run, parcel):
        """See a run through; returns when all ranks have ended."""
        with self._unless_stopped(run):
            number = next(self._numbers)
            self._listen(run._given_up)
            if not self._heard:
                run._interrupting()
            elif boarding(self, run, number, parcel):
                run._running()
                self._see_through(run, number, self.ask(run, engine.execute, number, self._fresh))

    @contextlib.contextmanager
    def _unless_stopped(self, run):
        """Whatever fails because another thread stops the ranks at this moment is the run's interrupt, not an error."""
        try:
            yield
        except Exception:
            if not self.stopped:
                raise
            run._interrupting()

    def _see_through(self, run, number, answers):
        self._fresh = True  # unless it ends well on all ranks
        flight = Flight(self, run, number, answers)
        flight.see_through()
        self._fresh = not flight.clean

    def last_told(self):
        """(number, name, whether it takes commands) of the last run that rank 0 has begun; None if there was none."""
        told = self.message(0, "kept", 0, first=0).result(self.timeout)["content"]
        return (told["run"], *told["about"]) if told["run"] else None

    def follow(self, number, run):
        """See a run through that another client asked for."""
        with self._unless_stopped(run):
            run._running()
            self._see_through(run, number, [Retold(self, run, rank, number) for rank in range(self.size)])

    def ask(self, run, function, *args):
        """Have each engine call a function; one answer a rank, each of which wakes the thread that watches."""
        answers = [self.client[ident].apply_async(function, *args) for ident in self.ids]
        for answer in answers:
            answer.add_done_callback(lambda _: run._wake.set())
        return answers

    def outcome(self, rank, answer):
        """What came of a request: an Outcome or None, how many batches of records the rank sent, and its last records."""
        if self.stopped:
            return Outcome(rank, "interrupted"), 0, []
        try:
            if not answer.ready():
                return Outcome(rank, "dead", trace=self.processes.obituary(rank, self.hellos)), 0, []
            batches, packed, rest = answer.get(0)
            return (unpack_outcome(packed, rank) if packed else None), batches, rest
        except Exception as error:
            if "EngineError" in (type(error).__name__, getattr(error, "ename", "")):
                return Outcome(rank, "dead", trace=self.processes.obituary(rank, self.hellos)), 0, []
            return Outcome(rank, "failed", trace=f"{type(error).__name__}: {error}\n"), 0, []

    def message(self, rank, what, number, **content):
        """Send something over the control channel of a rank; the reply is a future."""
        return greeting.send(self.client, self.ids[rank], {"what": what, "run": number, **content})

    def signal(self, rank):
        """SIGINT for a rank, which doesn't answer; through its nanny where it has one."""
        if self.processes.folder is None:
            self.client.send_signal(signal.SIGINT, targets=self.ids[rank], block=False)
        elif self.processes.reaches(self.hellos[rank]["host"]):
            with contextlib.suppress(OSError):
                os.kill(self.hellos[rank]["pid"], signal.SIGINT)


def _bytes(answer):
    with contextlib.suppress(Exception):
        return answer.result(AT_ONCE)["content"]["bytes"]
    return None
