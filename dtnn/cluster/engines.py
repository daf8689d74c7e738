"""The launcher "mpi": ranks that are ipyparallel engines under one mpiexec."""

import contextlib
import itertools
import os
import platform
import signal
import sys
import time

from . import checks, engine, folder, here, launchers, leftovers, listening, obituary, watchdog
from .ending import finish
from .flight import TICK, Flight
from .outcome import Outcome, unpack_outcome
from .started import Process

AT_ONCE = 0.3  # seconds that a table may wait for a rank's answer
LAST_MAIL = 0.5  # seconds that messages may still take when the launcher or the controller has ended


class Engines:
    """Conducts runs on `size` engines; starts, checks and ends them."""

    def __init__(self, size, threads, threads_asked, timeout):
        self.size, self.threads, self.threads_asked, self.timeout = size, threads, threads_asked, timeout
        self.client = self.cluster = None
        self._own_client = True
        self.hellos, self.ids = [], []  # by rank
        self.folder = self._watchdog = None
        # of runs: they grow from one client of these engines to the next
        self._numbers, self._fresh, self._lost_since = itertools.count(int(time.time() * 1000)), False, None
        self.stopped = False

    @classmethod
    def of(cls, ready, size, timeout):
        """Engines that somebody else started and will stop: an ipyparallel Cluster that runs, or a Client."""
        own = not hasattr(ready, "ids")
        if own and ready.controller is None:
            raise RuntimeError("this ipyparallel cluster isn't running; start it first: cluster.start_cluster_sync()")
        client = ready.connect_client_sync() if own else ready
        crew = cls(size or len(client.ids), 0, False, timeout)
        crew.client, crew._own_client = client, own
        return crew

    # ---- life

    def start(self, waits):
        """Start everything, or nothing: what was started before an error is ended again."""
        try:
            if self.client is None:
                self._launch(waits)
            waits(f"{self.size} engines to say who they are")
            self._greet()
        except BaseException:
            self.stop()
            raise

    def _launch(self, waits):
        until = time.monotonic() + self.timeout
        self.folder = folder.make(lambda path: leftovers.sign(path, self.size, here.session()))
        self._watchdog = launchers.start_watchdog(self.folder)
        environment = launchers.environment(self.folder, self.threads, self.threads_asked)
        self.cluster = launchers.ipyparallel_cluster(self.size, self.folder, environment)
        waits("the controller")
        self.cluster.start_controller_sync()
        waits("the controller's address")
        self.cluster.start_engines_sync()
        self.client = self.cluster.connect_client_sync()
        while len(self.client.ids) < self.size:
            waits(f"engines ({len(self.client.ids)} of {self.size} are there)")
            if time.monotonic() > until or self._launcher_has_ended():
                raise RuntimeError(checks.too_few(len(self.client.ids), self.size, self._present(), self.log()))
            time.sleep(0.02)

    def _greet(self):
        """Ask each engine who it is, and see that they make one MPI world."""
        answers = {ident: self.client[ident].apply_async(engine.hello) for ident in self.client.ids}
        hellos = {ident: answer.get(self.timeout) for ident, answer in answers.items()}
        checks.one_world(list(hellos.values()), self.size)
        by_rank = sorted(hellos, key=lambda ident: hellos[ident]["rank"])
        self._try_the_way_of_records(by_rank)
        self.ids, self.hellos = by_rank, [hellos[ident] for ident in by_rank]
        checks.versions(self.hellos)
        names = ["numba", *(name for name in sys.modules if name.startswith("dtnn.") and ".cluster" not in name)]
        for ident in self.ids:
            self.client[ident].apply_async(engine.warm, names)

    def _try_the_way_of_records(self, ids):
        """What is published before the subscriptions are through is lost without a word, so wait until they are."""
        until = time.monotonic() + self.timeout
        missing = set(ids)
        while missing and time.monotonic() < until:
            answers = {ident: self.client[ident].apply_async(engine.publish_something) for ident in missing}
            patience = time.monotonic() + 1.0
            while missing and time.monotonic() < patience:
                missing -= {ident for ident, answer in answers.items() if answer.data}
                time.sleep(0.002)
        if missing:
            raise RuntimeError(f"engines {sorted(missing)} answer, but nothing they publish arrives here; restart the cluster")

    def stop(self):
        """End engines, then controller, by signals: quicker than asking, and it needs no event loop, so it works at exit too."""
        self.stopped = True
        if self.client is not None and self._own_client:
            with contextlib.suppress(Exception):
                self.client.close(linger=0)
        if self.folder is not None:
            if Process.ending:
                watchdog.leave_word(self.folder)
            watchdog.clean_up(self.folder)
            self._dismiss_watchdog()
        self.client = self.cluster = self.folder = None

    def _dismiss_watchdog(self):
        if self._watchdog is not None:
            with contextlib.suppress(OSError):
                self._watchdog.communicate(b"bye", timeout=2.0)
            self._watchdog = None

    # ---- looks

    def rows(self):
        """One description a rank, by rank."""
        return [{name: hello[name] for name in ("rank", "host", "pid", "cores", "threads")} for hello in self.hellos]

    def memory(self):
        """Bytes that each rank's process has in memory; None for one that doesn't answer at once."""
        dead = self.dead()
        asked = [None if rank in dead else self.message(rank, "state", 0) for rank in range(self.size)]
        return [answer and _bytes(answer) for answer in asked]

    def dead(self):
        """Ranks whose engines have gone away, or can't be reached any more."""
        here = set(self.client.ids) if self.client is not None and not self._is_lost() else set()
        return {rank for rank, ident in enumerate(self.ids) if ident not in here}

    def check(self):
        """Raise `RankDied` if an engine has gone away."""
        dead = self.dead()
        if dead:
            raise obituary.error(sorted(dead), self.hellos, self.log())

    def log(self):
        """What the engines and their launcher wrote so far."""
        launcher = self.cluster.engine_set if self.cluster is not None else None
        if launcher is None:
            return ""
        with contextlib.suppress(OSError), open(launcher.output_file, errors="replace") as file:
            return file.read()
        return launcher._output or ""  # ipyparallel removes the file when it sees the end of the process

    def _present(self):
        return sorted(self.client.ids)

    def _launcher_has_ended(self):
        return _has_ended(self.cluster.engine_set)

    def _is_lost(self):
        """Whether the launcher or the controller has ended, so that nothing more will be heard."""
        return self.cluster is not None and (self._launcher_has_ended() or _has_ended(self.cluster.controller))

    # ---- runs

    def conduct(self, run, parcel):
        """See a run through; returns when all ranks have ended."""
        number = next(self._numbers)
        if self._prepare(run, number, parcel):
            run._running()
            flight = Flight(self, run, number, self._fresh)
            self._fresh = True  # unless it ends well on all ranks
            flight.see_through()
            self._fresh = not flight.clean

    def _prepare(self, run, number, parcel):
        """First phase; whether all are ready for the second."""
        run._waits("the ranks to unpack the job")
        answers = self.ask(run, engine.prepare, number, parcel)
        while not all(answer.ready() for answer in answers) and not self.silent():
            run._wake.wait(TICK)
            run._wake.clear()
            if run._given_up():
                run._interrupting()
                finish(run)  # the next run's turn comes when all have answered
        for rank, answer in enumerate(answers):
            outcome = self.outcome(rank, answer)[0]
            if outcome is not None:
                run._end(outcome)
        return not (run.done or run.outcomes)

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
                return self._death(rank), 0, []
            batches, packed, rest = answer.get(0)
            return (unpack_outcome(packed, rank) if packed else None), batches, rest
        except Exception as error:
            if "EngineError" in (type(error).__name__, getattr(error, "ename", "")):
                return self._death(rank), 0, []
            return Outcome(rank, "failed", trace=f"{type(error).__name__}: {error}\n"), 0, []

    def _death(self, rank):
        """The outcome of a rank that died, with the launcher's last words about it, which may come a moment later."""
        until = time.monotonic() + 1.0
        while self.cluster is not None and not self._launcher_has_ended() and time.monotonic() < until:
            time.sleep(0.02)
        return Outcome(rank, "dead", trace=obituary.text(rank, self.hellos, self.log()))

    def silent(self):
        """Whether nothing more will be heard, and what was under way has had time to arrive."""
        if self.stopped:
            return True
        if not self._is_lost():
            self._lost_since = None
        elif self._lost_since is None:
            self._lost_since = time.monotonic()
        return self._lost_since is not None and time.monotonic() - self._lost_since > LAST_MAIL

    def message(self, rank, what, number, **content):
        """Send something over the control channel of a rank; the reply is a future."""
        ident = self.client._build_targets(self.ids[rank])[0][0]
        content = {"what": what, "run": number, **content}
        return self.client._send(self.client._control_stream, listening.MESSAGE, content=content, ident=ident)

    def signal(self, rank):
        """SIGINT for a rank, which doesn't answer; through its nanny where it has one."""
        if self.cluster is None:
            self.client.send_signal(signal.SIGINT, targets=self.ids[rank], block=False)
        elif self.hellos[rank]["host"] == platform.node():
            with contextlib.suppress(OSError):
                os.kill(self.hellos[rank]["pid"], signal.SIGINT)


def _bytes(answer):
    with contextlib.suppress(Exception):
        return answer.result(AT_ONCE)["content"]["bytes"]
    return None


def _has_ended(launcher):
    """Whether a process that ipyparallel launched here has ended."""
    process = getattr(launcher, "_popen_process", None)
    return process is not None and process.poll() is not None
