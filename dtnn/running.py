"""A `Fitting` is run: in this process, or on a cluster; what comes of it is the model's."""

import time

from . import inject, known
from .history import History
from .records import Finish, Recorder
from .sentence import sentence

NOBODY = (
    "a callback paused this training, but nobody could let it go on: fit holds the cell until the end. "
    "Use run = model.start(...), then run.resume()"
)


def fit(fitting, cluster, show):
    """Train, wait for the end, return the history; what is known when something goes wrong is kept in `model.history`."""
    return _fit_here(fitting, show) if cluster is None else _fit_there(fitting, known.cluster(cluster), show)


def start(fitting, cluster):
    """Begin to train and return the `Run`."""
    from .cluster import Cluster

    own = Cluster(1, launcher="threads").start() if cluster is None else None
    cluster = own or known.cluster(cluster)
    job, arguments = fitting.job(cluster.ranks)
    fitting.advise(cluster.ranks)
    run = cluster.run(job, *arguments)
    run.then(lambda result: _take(fitting.model, result, run.records))
    fitting.model.run = run
    if own is not None:
        run.then(lambda result: own.stop())
    return run


def _fit_here(fitting, show):
    from .comm import Serial

    job, arguments = fitting.job(1)
    fitting.advise(1)
    here = Here()
    shown = _progress(here) if show else None
    fitting.model.check_free()  # again: another thread may have been as quick as this one
    fitting.model.run = here
    try:
        for record in job(inject.around(Serial()), *arguments):
            if record is None:
                raise RuntimeError(NOBODY)
            here.records.append(record)
            if shown:
                shown.update()
        here.state = here.records[-1].reason
    except KeyboardInterrupt:
        here.state = "interrupted"
        here.records.append(Finish("interrupted", time.time()))
    except BaseException as error:
        here.state, here.error = "failed", error
        here.records.append(Finish("failed", time.time(), sentence(error)))
        raise
    finally:
        fitting.model.history, fitting.model.run = History(here.records), None
        if shown:
            shown.close()
    return fitting.model.history


def _fit_there(fitting, cluster, show):
    run, shown = start(fitting, cluster), None
    try:
        shown = _progress(run) if show else None
        while not run.wait(0.2):
            if run.state == "paused" and not run.steered:
                raise RuntimeError(NOBODY)
            if shown:
                shown.update()
    except KeyboardInterrupt:
        run.end("interrupted")
    except BaseException as error:
        run.end(sentence(error))
        raise
    finally:
        fitting.model.history = History(run.records)
        if shown:
            shown.close()
    if run.state == "failed":
        run.result()
    return fitting.model.history


def _take(model, result, records):
    """The trained weights are the model's."""
    model.history = History(records)
    if result is not None:
        model.load_state_dict(result["weights"])
        model.training, model.steps = result["training"], result["steps"]


class Here:
    """The run of a `fit` without a cluster, as the live views see it."""

    ranks = 1
    ends = "it is that of a fit, in another thread or around this callback: let it end first, or train a copy.deepcopy(model)"
    waiting_for = ""
    error = None

    def __init__(self):
        self.records, self.state = Recorder(), "running"

    @property
    def done(self):
        """Whether it has ended."""
        return self.state != "running"


def _progress(run):
    from .plots.live import Live

    return Live(run)
