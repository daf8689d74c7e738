"""Ranks that work together, started from here: as MPI engines or as threads."""

import difflib
import functools
import inspect
import operator
import os
import threading
import weakref

from .. import machine
from ..records import Step
from . import roster
from .ending import finish
from .run import Run

LAUNCHERS = ("mpi", "threads")
MOST = 4096  # ranks or threads: a slip of the finger should not fill the memory
THREAD_VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Cluster:
    """Ranks on which jobs run: ``with Cluster(4) as cluster: cluster.run(job).result()``.

    Parameters
    ----------
    ranks : int, optional
        How many; 2 when nothing is said, all engines of a ready ipyparallel cluster.
    launcher : str or ipyparallel.Cluster or ipyparallel.Client
        "mpi": engines under the ``mpiexec`` of this Python's environment.  "threads": threads of this process, no MPI
        needed.  Or an ipyparallel cluster that runs already; it is used, and left running.
    threads_per_rank : int, optional
        BLAS and Numba threads of each rank; cores divided by ranks when nothing is said, unless the environment
        (``OMP_NUM_THREADS``, ``NUMBA_NUM_THREADS`` ...) says otherwise.
    timeout : float
        Seconds that the start may take.
    on_wait : callable, optional
        Called with a line of text while a wait goes on for over 1 s, and with "" when it is over.  When nothing is said,
        notebooks and terminals show one line that goes away again; False shows nothing.

    Raises
    ------
    ValueError
        An unknown launcher (the text has the nearest right one), a number of ranks or threads below 1.

    Examples
    --------
    >>> with Cluster(2, launcher="threads") as cluster:
    ...     cluster.run(lambda comm: comm.Allreduce(comm.rank + 1)).result()
    3
    """

    def __init__(self, ranks=None, launcher="mpi", threads_per_rank=None, timeout=60.0, on_wait=None):
        self.launcher = _known_launcher(launcher)
        self.ranks = _positive(2 if ranks is None else ranks, "ranks")
        self.threads_per_rank = _threads(self.ranks, threads_per_rank)
        self.timeout, self.on_wait = timeout, on_wait
        self._asked, self._user_threads = ranks, threads_per_rank
        self._crew, self._last, self._lock = None, None, threading.Lock()

    # ---- life

    @property
    def state(self):
        """ "stopped", "running", or "dead" when a rank's process has gone away."""
        if self._crew is None:
            return "stopped"
        return "dead" if self._crew.dead() else "running"

    def start(self):
        """Start the ranks and return the cluster; nothing happens if they run.

        Raises
        ------
        RuntimeError
            They could not be started: there is no MPI, some never came (which, and the end of their log), or they don't
            know of each other (launcher and library, and what to install).
        """
        from .waiting import waiting

        with self._lock:
            if self._crew is None:
                crew = self._new_crew()
                with waiting(self.on_wait) as waits:
                    crew.start(waits)
                self._crew, self.ranks, self._last = crew, crew.size, None
                self._finalizer = weakref.finalize(self, _stop, crew, os.getpid())
        return self

    def stop(self):
        """End the ranks, whatever they do, and everything that was started for them."""
        with self._lock:
            if self._crew is not None:
                self._finalizer()
                self._crew = None

    @property
    def client(self):
        """The ipyparallel Client of these engines (for ``%px`` and the like); None for threads and when stopped."""
        return getattr(self._crew, "client", None)

    def restart(self):
        """Stop what is left of the ranks and start new ones."""
        self.stop()
        return self.start()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    # ---- work

    def run(self, job, *args, **kwargs):
        """Have all ranks do a job; returns at once.

        Runs of one cluster follow each other in the order they were asked for.

        Parameters
        ----------
        job : callable
            ``job(comm, *args, **kwargs)``: a function, or a generator of records whose return value is the result.
            It and its arguments travel by value: each rank has its own copy, and nothing needs to be importable there.

        Returns
        -------
        Run

        Raises
        ------
        RuntimeError
            The cluster isn't running, or a rank has died.
        TypeError
            The job can't travel.
        """
        from .parcel import pack

        if not callable(job):
            raise TypeError(f"a job is a function that takes a communicator, not {job!r:.60}; pass the function itself")
        with self._lock:
            if self._crew is None:
                raise RuntimeError("the cluster is stopped: start it with cluster.start(), or use it within `with Cluster(...)`")
            self._crew.check()
            name, generates = getattr(job, "__name__", type(job).__name__), inspect.isgeneratorfunction(job)
            run = Run(self._crew.size, name, self._crew.rows(), generates)
            run._start(functools.partial(_conduct, self._crew, pack(job, args, kwargs), self._last))
            self._last = run
        return run

    # ---- looks

    def describe(self):
        """One description a rank: rank, host, pid, cores, threads, state, and step and memory (bytes) where they are known.

        `state` is "stopped", "dead", "idle", or the name of the job under way; `step` that of its training.
        """
        if self._crew is None:
            return [{"rank": rank, "threads": self.threads_per_rank, "state": "stopped"} for rank in range(self.ranks)]
        busy = self._last is not None and not self._last._drained.is_set()
        doing = {"state": self._last.name, "step": _step(self._last.records)} if busy else {"state": "idle"}
        dead, rows, memory = self._crew.dead(), self._crew.rows(), self._crew.memory()
        told = [{**row, **doing, "memory": bytes} for row, bytes in zip(rows, memory)]
        return [{**row, "state": "dead", "step": None, "memory": None} if row["rank"] in dead else row for row in told]

    def __repr__(self):
        return roster.text(f"<{self._title}>", self.describe())

    def _repr_html_(self):
        return roster.html(self._title, self.describe())

    @property
    def _title(self):
        kind = self.launcher if isinstance(self.launcher, str) else type(self.launcher).__name__
        return f"Cluster of {self.ranks} rank{'s' * (self.ranks != 1)} ({kind}), {self.state}"

    def _new_crew(self):
        if self.launcher == "threads":
            from .thread_ranks import ThreadRanks

            return ThreadRanks(self.ranks, self.threads_per_rank)
        from .engines import Engines

        if self.launcher == "mpi":
            return Engines(self.ranks, self.threads_per_rank, self._user_threads is not None, self.timeout)
        return Engines.of(self.launcher, self._asked, self.timeout)


def _conduct(crew, parcel, before, run):
    """See a run through, after the one before it."""
    while before is not None and not before._drained.wait(0.1):
        stuck = f" (rank {', '.join(map(str, before.stuck))} can't be interrupted; cluster.restart() goes on without it)"
        run._waits("the run before it to end" + (stuck if before.stuck else ""))
        if not run.done and (crew.stopped or run._given_up(queued=True)):
            run._interrupting()
            finish(run)  # for the user; whoever comes next still waits for the one that runs
    if run.done:
        return
    if crew.stopped:
        run._interrupting()
    else:
        crew.conduct(run, parcel)


def _stop(crew, pid):
    if os.getpid() == pid:  # a fork of this process has no say in it
        crew.stop()


def _step(records):
    """The step that a training is at; None for other jobs."""
    last = records.last(Step)
    return last and last.step


def _known_launcher(name):
    if hasattr(name, "connect_client_sync") or hasattr(name, "ids"):
        return name
    if not isinstance(name, str):
        raise TypeError(
            f"launcher={name!r:.60} is none; give {', '.join(map(repr, LAUNCHERS))}, or an ipyparallel Cluster or Client"
        )
    if name.lower() not in LAUNCHERS:
        near = difflib.get_close_matches(name.lower(), LAUNCHERS, 1, 0.3)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(LAUNCHERS)}"
        raise ValueError(f"no launcher is called {name!r}: {hint}")
    return name.lower()


def _positive(value, name):
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} is no whole number; ask for 1, 2, 3 ...") from None
    if isinstance(value, bool) or number < 1:
        raise ValueError(f"{name}={value!r} can't be; ask for 1 or more")
    if number > MOST:
        raise ValueError(f"{name}={value!r} is more than dtnn starts, {MOST}; ask for fewer")
    return number


def _threads(ranks, asked):
    """Threads a rank: what was asked for, what the user's environment says, or the cores of this host shared out."""
    if asked is not None:
        return _positive(asked, "threads_per_rank")
    said = [os.environ[name] for name in THREAD_VARIABLES if os.environ.get(name, "").isdecimal()]
    return max(1, int(said[0])) if said else machine.threads_per_rank(ranks)
