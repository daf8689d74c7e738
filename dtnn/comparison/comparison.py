"""`Comparison`: several runs side by side: their curves, their settings and results, what differs between them."""

import dataclasses
import html
import os
from pathlib import Path

from ..allowed import shown
from ..cluster import Run
from ..records import Epoch, Recorder
from ..same_run import same_run
from .brief import brief
from .results_of import results_of
from .settings_of import changes, differences, settings_of
from .table import Table

MOST = 32  # letters of a setting that is said with a run's name


class Comparison:
    """Runs side by side; in a notebook it shows curves, and a table of what differs between the runs and how they went.

    Parameters
    ----------
    *runs : Run, History, records, or path of a run that was saved; or lists of these
        Runs may still go on; each look shows them as they are then. They are called "run 1", "run 2", a file by its name. A run
        that is there twice has two names and two rows, but one line in the picture, and is told.
    **named : the same
        With names of your own: ``Comparison(small=run, large="large.json")``.

    Raises
    ------
    ValueError, TypeError
        No run is given, one is none, or a file can't be read.

    Examples
    --------
    >>> from dtnn.records import Epoch, Start
    >>> def told(batch_size, loss):
    ...     return [Start(0.0, 2, {"epochs": 1, "batch_size": batch_size}), Epoch(1, 9, 640, 2.0, 0.1, {"loss": loss}, 2.0)]
    >>> both = Comparison(small=told(32, 0.5), large=told(64, 0.7))
    >>> both
    run    batch_size  state    epochs done  loss  seconds  samples/s
    small  32          running  1            0.5   2        320
    large  64          running  1            0.7   2        320
    the same: ranks 2 · epochs 1
    >>> both.differences("small", "large")
    {'batch_size': (32, 64)}
    """

    def __init__(self, /, *runs, **named):
        self.runs = {}
        each = [run for given in runs for run in (given if _several(given) else [given])]
        for number, run in enumerate(each, 1):
            self.add(run, Path(run).stem if isinstance(run, str | os.PathLike) else f"run {number}")
        for name, run in named.items():
            self.add(run, name)
        if not self.runs:
            raise ValueError('there is nothing to compare: give runs, as in Comparison(run, history, "saved.json")')

    def add(self, run, name):
        """One more run; a name that is taken gets a number."""
        run, taken, number = _run(run, name), name, 1
        while name in self.runs:
            number += 1
            name = f"{taken} ({number})"
        self.runs[name] = run

    # ---- what is known

    def settings(self, name):
        """The settings of a run, as its first record told them, with its number of ranks."""
        return settings_of(self._records(name))

    def results(self, name):
        """What a run has come to: "state", "epochs done", "loss", "seconds", "samples/s" and other metrics, as far as known."""
        return results_of(self.runs[self._known(name)])

    def differences(self, one=None, other=None):
        """In which settings two runs differ: a dict of pairs; the first two runs, if no names are given.

        A setting that a run doesn't have is None.
        """
        names = list(self.runs)
        if one is None and other is None and len(names) < 2:
            raise ValueError(f"there is one run alone, {names[0]!r}: give Comparison two of them")
        one, other = (self._known(name) if name is not None else names[place] for place, name in enumerate((one, other)))
        return differences(self.settings(one), self.settings(other))

    def explain(self, one=None, other=None):
        """The same in words, a line for each setting; of models only the layers that differ."""
        return "\n".join(changes(self.differences(one, other))) or self._twice(one, other) or "no setting differs"

    def columns(self):
        """The table as columns of equal length, such as ``pandas.DataFrame`` takes: "run", all settings, "state", results."""
        settings, results = [self.settings(name) for name in self.runs], [self.results(name) for name in self.runs]
        table = {"run": list(self.runs)}
        for rows in (settings, results):
            for key in dict.fromkeys(key for row in rows for key in row):
                table[key if key not in table else f"{key} (result)"] = [row.get(key) for row in rows]
        return table

    # ---- for people

    def plot(self, metric="loss", ax=None, against="epoch", smoothing=0.0):
        """The runs' curves in one picture, see `dtnn.plots.overlay`; without `ax` as a figure of its own."""
        from ..plots import overlay

        return overlay(self._titled(), ax, metric, against, smoothing)

    def picture(self, metric=None, against="epoch", smoothing=0.0):
        """Loss and another metric side by side, as a matplotlib Figure."""
        from ..plots.overlay import overlay_figure

        return overlay_figure(self._titled(), metric or self.metric, against, smoothing)

    @property
    def metrics(self):
        """The names of the metrics that the runs have beside the loss."""
        known = [key for name in self.runs for epoch in self._records(name).of(Epoch) for key in epoch.metrics]
        return [key for key in dict.fromkeys(known) if key != "loss" and not key.startswith("val_")]

    @property
    def metric(self):
        """The metric to look at beside the loss: "accuracy", or the first that the runs have; None without one."""
        known = self.metrics
        return "accuracy" if "accuracy" in known else known[0] if known else None

    def __repr__(self):
        table = self._table()
        return "\n".join(filter(None, [str(table), table.same, self._doubles()]))

    def _repr_html_(self):
        table = self._table()
        below = "".join(f"<p>{html.escape(words)}</p>" for words in (table.same, self._doubles()) if words)
        return f'<div style="overflow-x: auto; max-width: 100%">{table.page}</div>{below}'

    def _ipython_display_(self):
        from IPython.display import display

        from ..plots.screens import in_notebook

        if in_notebook():  # a terminal would print what the picture is called
            display(self.picture())
        display({"text/plain": repr(self), "text/html": self._repr_html_()}, raw=True)

    # ---- how

    def _records(self, name):
        return Recorder(getattr(self.runs[self._known(name)], "records", self.runs[name]))

    def _known(self, name):
        if name not in self.runs:
            raise ValueError(f"there is no run {name!r}; there are {', '.join(map(repr, self.runs))}")
        return name

    def _table(self):
        return Table({name: self.settings(name) for name in self.runs}, {name: self.results(name) for name in self.runs})

    def _alike(self):
        """The runs by their first names, with all the names of each."""
        found = {}
        for name, run in self.runs.items():
            first = next((other for other in found if same_run(self.runs[other], run)), name)
            found.setdefault(first, []).append(name)
        return found

    def _doubles(self):
        """Which names are those of a run that is there already, in a line."""
        told = [f"{name} is {first} once more" for first, names in self._alike().items() for name in names[1:]]
        return "; ".join(told)

    def _twice(self, one, other):
        """What is to be said of two names of one run."""
        one, other = (name if name is not None else list(self.runs)[place] for place, name in enumerate((one, other)))
        return f"{other} is {one} once more" if same_run(self.runs[one], self.runs[other]) else ""

    def _titled(self):
        """The records of different runs by name; where one short setting differs, it is said with the name."""
        varied = [key for key in self._table().varied if key not in ("model", "seed", "parameters")]
        said = {name: brief(self.settings(name).get(varied[0])) if len(varied) == 1 else "" for name in self.runs}
        titles = {first: " = ".join(names) for first, names in self._alike().items()}
        return {f"{t}: {said[n]}" if 0 < len(said[n]) <= MOST else t: self._records(n) for n, t in titles.items()}


def _several(run):
    """Whether that is a list of runs, and not of records."""
    return isinstance(run, list | tuple) and not all(map(dataclasses.is_dataclass, run))


def _run(run, name):
    """What has the records; of a path, the run that was saved there."""
    if isinstance(run, str | os.PathLike):
        return Run.load(run)
    if hasattr(run, "records") or (isinstance(run, list | tuple) and all(map(dataclasses.is_dataclass, run))):
        return run
    raise TypeError(f"{name} is {shown(run)}: give a Run, a History, records, or the path of a run that was saved")
