"""A job under way on the ranks of a cluster, or one that has ended, or one read back from its file."""

from ..phrases import ranks
from ..sentence import sentence
from . import awaiting, failure, run_file, showing, steering
from . import to_batch as batching
from . import weights as showing_weights
from .bounded import Dropped
from .conducted import Conducted
from .waiting_for import waiting_for


class Run(Conducted):
    """A job that runs, or has run, on the ranks of a cluster: watch it, stop it, have its result.

    `Cluster.run` makes it.  Iterating it yields the records live and ends with the run; an error of a rank is raised
    there as by `result`.

    Attributes
    ----------
    size : int
        Number of ranks.
    state : str
        "waiting", "running" or "paused", then "done", "stopped", "interrupted" or "failed".
    records : Recorder
        All records so far, each rank's in its own order.  Of records over 10 kB only the last 20 MB are kept (what iterates
        the run fast enough sees them all); a `Dropped` stands for each of the others.
    results : list
        What the job returned on each rank (None where it didn't).
    output : dict of int to str
        What each engine printed last; what rank 0 prints is also printed here. Ranks that are threads print here anyway.
    stuck : list of int
        Ranks that had not ended when the run did, since they can't be interrupted where they are.
    rows : list of dict
        The ranks' descriptions when the run began.
    views : list
        What shows the run live; updated by a cell that waits for the run, in which nothing else can.
    """

    # ---- looking at it

    @property
    def waiting_for(self):
        """What the run waits for at the moment, in words; "" while records flow and when it has ended."""
        return waiting_for(self)

    @property
    def ending(self):
        """Whether it goes on, and was asked to end."""
        return not self.done and bool(self._stop_asked or self._interrupt_asked)

    @property
    def history(self):
        """The epochs so far, as `Model.fit` returns them."""
        from ..history import History

        return History(self.records)

    def __iter__(self):
        seen = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: len(self.records) > seen or self.done)  # noqa: B023
                new, ended = self.records[seen:], self.done
            yield from (record for record in new if not isinstance(record, Dropped))
            seen += len(new)
            if ended and seen == len(self.records):
                break
        if self.error:
            raise self.error

    def __repr__(self):
        words = [f"{self.name} on {ranks(self.size)}", self.state, f"{len(self.records)} records"]
        if self.waiting_for:
            words.append(f"waiting for {self.waiting_for}")
        if self.error:
            words.append(sentence(self.error).splitlines()[0])
        return f"<Run: {', '.join(words)}>"

    def _repr_html_(self):
        from .run_page import run_page

        return run_page(self)

    def _ipython_display_(self):
        from IPython.display import display

        try:
            from ..plots.live import Live
        except ImportError:  # no matplotlib, no ipywidgets: the words are still true
            print(repr(self))
        else:
            display(Live(self))

    def watch(self):
        """Show the run live where this is called; the notebook stays free."""
        self._ipython_display_()

    def explain(self):
        """Where the time went, in words, and one thing to try; prints, and shows in a notebook."""
        from ..explain import explain

        return explain(list(self.records))

    def timeline(self):
        """The steps that were looked at closely: a picture of one, columns, files; see `dtnn.plots.Timeline`."""
        from ..plots import Timeline

        return Timeline(self.records)

    # ---- waiting for it

    wait, result, then, __await__ = awaiting.wait, awaiting.result, awaiting.then, awaiting.in_a_notebook

    # ---- steering it, ending it, and looking inside

    pause, step, resume, set_lr = steering.pause, steering.step, steering.resume, steering.set_lr
    stop, interrupt, end = steering.stop, steering.interrupt, steering.end
    gradients, weights = showing.gradients, showing_weights.weights

    def send(self, command):
        """Hand a command to a generator job: rank 0's generator gets it as the answer to its next `yield`."""
        self.steered = True
        self._request("command", command)

    # ---- files

    def save(self, path):
        """Write it as one JSON file that needs nothing else to be read: records, ranks, state. The result is not in it."""
        run_file.write(self, path)

    to_batch = batching.to_batch

    def save_trace(self, path):
        """Write the steps that were looked at closely, for ui.perfetto.dev; while the run goes on the file grows with it.

        It can be read at any moment, also if this process is killed. With ``{rank}`` in the name there is a file for each rank.
        """
        from ..tracing import follow

        follow(self, path)

    @classmethod
    def load(cls, path):
        """The run that `save` wrote, as it had ended; nothing in the file is ever executed.

        Raises
        ------
        ValueError
            The file is no run, or a damaged one; the text says where.
        """
        values = run_file.read(path)
        run = cls(values["ranks"], values["name"], values["rows"])
        run.records, run.story = values["records"], values["story"]
        run.state = values["state"]
        run.error = failure.RunFailed(run.story) if run.state == "failed" else None
        run._ended.set()
        run._drained.set()
        return run
