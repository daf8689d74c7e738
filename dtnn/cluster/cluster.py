"""Ranks that work together, started from here: as MPI engines or as threads."""

import threading

from .. import allowed, inject
from . import attaching, here, logs, roster, waiting
from .asked import asked, is_ready
from .check_job import check_job
from .new_crew import new_crew
from .started import Started


class Cluster:
    """Ranks on which jobs run: ``with Cluster(4) as cluster: cluster.run(job).result()``.

    Parameters
    ----------
    ranks : int, optional
        How many; 2 when nothing is said, all engines of a ready ipyparallel cluster. A ready one may stand here, too.
    launcher : str or ipyparallel.Cluster or ipyparallel.Client
        "mpi": engines under the ``mpiexec`` of this Python's environment.  "threads": threads of this process, no MPI
        needed.  "slurm": engines as a job of Slurm, which may have to wait (an interrupt cancels it).  "ssh": engines under
        one ``mpiexec`` over `hosts`.  Or an ipyparallel cluster that runs already; it is used, and left running.
    threads_per_rank : int, optional
        Threads of each rank, for kernels, BLAS and Numba; cores divided by ranks when nothing is said, unless the environment
        (``OMP_NUM_THREADS``, ``NUMBA_NUM_THREADS`` ...) says otherwise.
    timeout : float
        Seconds that the start may take.
    on_wait : callable, optional
        Called with a line of text while a wait goes on for over 1 s, and with "" when it is over.  When nothing is said,
        notebooks and terminals show one line that goes away again; False shows nothing.
    hosts : list of str, optional
        For "ssh": where ranks are to be, each perhaps with how many, "node1:4". ``ssh`` has to reach them without a password,
        and they have to see this Python and your home folder under the same paths.
    secure : bool, optional
        Whether all messages are encrypted (CurveZMQ); when nothing is said, if hosts other than this one take part.
    keep_alive : float or str or bool, optional
        How long the cluster may go on without its notebook or script: seconds, or "30m", "2h" (True), "1d"; at most 7 days.
        `Cluster.attach` finds it again until then. When nothing is said it ends with what started it.
    **batch
        For "slurm": account, partition, time, nodes, and `lines`, more lines for the script.

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

    def __init__(
        self,
        ranks=None,
        launcher="mpi",
        threads_per_rank=None,
        timeout=60.0,
        on_wait=None,
        *,
        hosts=None,
        secure=None,
        keep_alive=None,
        **batch,
    ):
        if is_ready(ranks):  # Cluster(client)
            ranks, launcher = None, ranks
        what = asked(ranks, launcher, threads_per_rank, keep_alive, hosts, secure, batch)
        self._take(what, timeout, on_wait)

    def _take(self, asked, timeout, on_wait):
        self._asked = asked
        self.ranks, self.launcher, self.threads_per_rank = self._asked.size, self._asked.launcher, self._asked.threads
        wanted = "seconds that the start may take, such as 60"
        self.timeout, self.on_wait = allowed.number("timeout", timeout, wanted, lambda x: 0 < x < 1e6), waiting.known(on_wait)
        self._started, self._let_go, self._lock = None, None, threading.Lock()

    # ---- life

    @property
    def state(self):
        """ "stopped", "running", or "dead" when a rank's process has gone away."""
        if self._crew is None:
            return "stopped"
        return "dead" if self._crew.dead() else "running"

    def start(self):
        """Start the ranks and return the cluster; nothing happens if they run.

        In a notebook, where a cell may be run again, a cluster that runs already and was asked for with the same arguments is
        used, and that is said; one with other arguments goes on beside the new one, and that is said, too.

        Raises
        ------
        RuntimeError
            They could not be started: there is no MPI, some never came (which, and the end of their log), or they don't
            know of each other (launcher and library, and what to install).
        """
        with self._lock:
            if self._crew is None:
                running, word = here.same(self)
                waiting.say(self.on_wait, word)
                self._hold(running or self._start())
        return self

    def _start(self):
        if self.launcher != "threads":
            waiting.say(self.on_wait, here.word_of_the_last_kernel())
        return Started(waiting.ready(self._new_crew(), self.on_wait), self._asked)

    attach = classmethod(attaching.attach)

    def _hold(self, started):
        self._started, self._let_go, self.ranks = started, started.held_by(self), started.crew.size
        here.CLUSTERS.add(self)

    @property
    def _crew(self):
        """Who conducts runs; None when stopped."""
        return self._started.crew if self._started is not None and self._started.runs else None

    def stop(self):
        """End the ranks, whatever they do, and everything that was started for them."""
        with self._lock:
            if self._crew is not None:
                self._started.stop()
                self._let_go.detach()

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
        with self._lock:
            self._let_go()  # and that stops it, unless a cell before this one holds it, too

    # ---- work

    def run(self, job, *args, **kwargs):
        """Have all ranks do a job; returns at once.

        Runs of one cluster follow each other in the order they were asked for.  Where a rank's process has died, new ranks are
        started first, and that is said (`Model.fit` with ``resume=True`` goes on from the last checkpoint).

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
            The cluster isn't running; or a rank has died, and there can't be new ones.
        TypeError
            It is no function, can't be called with a communicator and the arguments, or can't travel.
        """
        from .parcel import pack

        check_job(job, args, kwargs)
        if self._crew is None:
            raise RuntimeError("the cluster is stopped: start it with cluster.start(), or use it within `with Cluster(...)`")
        parcel = pack(inject.affected(job, self.ranks), args, kwargs)
        self._started.revive(self._new_crew, self.on_wait)
        return self._started.begin(job, parcel)

    @property
    def last_run(self):
        """The `Run` that goes on here, or the last one; None before the first."""
        return self._started and self._started.last

    # ---- looks

    describe, log = roster.describe, logs.log

    def __repr__(self):
        return roster.text(f"<{roster.heading(self)}>", self.describe())

    def _repr_html_(self):
        return roster.html(roster.heading(self), self.describe())

    def _new_crew(self):
        return new_crew(self._asked, self.threads_per_rank, self.timeout)
