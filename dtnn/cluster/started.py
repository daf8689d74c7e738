"""What has been started and is still held by somebody: ended when the last one lets go of it."""

import atexit
import functools
import inspect
import os
import threading
import time
import weakref

from ..records import Step
from . import waiting
from .ending import finish
from .run import Run


class Process:
    """This process, as far as clusters have to know."""

    ending = False  # its exit functions run


def _ending():
    Process.ending = True


class Started:
    """Ranks that run, and what all `Cluster` objects that use them share.

    Attributes
    ----------
    crew : Engines or ThreadRanks
    asked : Asked
        With which arguments it was started.
    last : Run or None
        The newest run on it.
    since : float
        Seconds since 1970.
    """

    def __init__(self, crew, asked):
        self.crew, self.asked, self.last, self.since = crew, asked, None, time.time()
        self.lock, self._holders, self._pid = threading.RLock(), 0, os.getpid()

    @property
    def runs(self):
        """Whether it has not been stopped."""
        return not self.crew.stopped

    def held_by(self, owner):
        """Count `owner` among those who hold it; a function that lets go, called by itself when `owner` is gone."""
        with self.lock:
            self._holders += 1
        finalizer = weakref.finalize(owner, _let_go, self)
        atexit.unregister(_ending)
        atexit.register(_ending)  # what is registered last runs first: before all finalizers
        return finalizer

    def begin(self, job, parcel):
        """A new run of a job, which waits for the one before it."""
        with self.lock:
            crew = self.crew
            crew.check()
            name, generates = getattr(job, "__name__", type(job).__name__), inspect.isgeneratorfunction(job)
            run = Run(crew.size, name, crew.rows(), generates)
            run._start(functools.partial(_conduct, crew, parcel, self.last))
            self.last = run
        return run

    def revive(self, new_crew, on_wait):
        """Where ranks have died, start new ones in their place, for all who hold these; somebody else's stay as they are."""
        with self.lock:
            cause = self.crew.epitaph()
            if cause:
                waiting.say(on_wait, f"{cause}: new ranks are started.")
                self.crew.stop()  # what can't be started anew is at least no longer there
                self.crew = waiting.ready(new_crew(), on_wait)

    def rows(self):
        """One description a rank, see `Cluster.describe`."""
        busy = self.last is not None and not self.last._drained.is_set()
        doing = _doing(self.last) if busy else {"state": "idle"}
        dead, rows, memory = self.crew.dead(), self.crew.rows(), self.crew.memory()
        told = [{**row, **doing, "memory": bytes} for row, bytes in zip(rows, memory)]
        return [{**row, "state": "dead", "step": None, "memory": None} if row["rank"] in dead else row for row in told]

    def stop(self):
        """End the ranks, for all who hold them."""
        if os.getpid() == self._pid:  # a fork of this process has no say in it
            self.crew.stop()


def _conduct(crew, parcel, before, run):
    """See a run through, after the one before it."""
    while before is not None and not before._drained.wait(0.1):
        stuck = f"rank {', '.join(map(str, before.stuck))} can't be interrupted; cluster.restart() goes on without it"
        run._waits(f"the run before it to end ({stuck if before.stuck else 'its end() ends it'})")
        if not run.done and (crew.stopped or run._given_up(queued=True)):
            run._interrupting()
            finish(run)  # for the user; whoever comes next still waits for the one that runs
    if run.done:
        return
    if crew.stopped:
        run._interrupting()
    else:
        crew.conduct(run, parcel)


def _doing(run):
    """What ranks do that are at a run, and the step that a training is at."""
    last = run.records.last(Step)
    return {"state": run.name + ", paused" * (run.state == "paused"), "step": last and last.step}


def _let_go(started):
    with started.lock:
        started._holders -= 1
        if not started._holders:
            started.stop()
