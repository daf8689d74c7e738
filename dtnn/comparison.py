"""`Comparison`: several runs side by side: their curves, their settings and results, what differs between them."""

import dataclasses
import difflib
import html
import math
import os
import re
from pathlib import Path

from .allowed import shown
from .cluster import Run
from .history import History
from .records import Epoch, Finish, Recorder, Resumed, Start, Step
from .same_run import same_run

NOT_SETTINGS = "recipe", "layers", "weights", "out_of_step"  # say the same as model and strategy once more
MOST = 60  # letters of a setting in the table
RESULTS = "epochs done", "loss", "accuracy", "val_loss", "val_accuracy", "seconds", "samples/s"
LESS_IS_BETTER = ("seconds", "loss", "error", "entropy", "mse", "mae", "hinge", "huber")  # in a result's name
FUNCTION = re.compile(r"<function (?:[\w.<>]*\.)?(\w+|<lambda>) at 0x[0-9a-f]+>")  # what a setting may have in its repr


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
    >>> from dtnn.records import Epoch
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
        started = self._records(name).last(Start)
        if started is None:
            return {}
        told = {key: _named(value) for key, value in started.settings.items() if key not in NOT_SETTINGS}
        return {"ranks": started.ranks, **told}

    def results(self, name):
        """What a run has come to: "state", and the `RESULTS` that are known."""
        records = self._records(name)
        history, found = History(records), {"state": getattr(self.runs[name], "state", None) or _state(records)}
        found["epochs done"] = len([samples for samples in history.history["samples"] if samples])
        metrics = [key for key in history.history if key not in ("lr", "seconds", "samples")]
        found |= {key: next((v for v in reversed(history.history[key]) if v is not None), None) for key in metrics}
        if "loss" not in found and (step := records.last(Step)):
            found["loss"] = step.loss
        found["seconds"] = _seconds(records)
        seconds = sum(history.history["seconds"])
        found["samples/s"] = sum(history.history["samples"]) / seconds if seconds else None
        return found

    def differences(self, one=None, other=None):
        """In which settings two runs differ: a dict of pairs; the first two runs, if no names are given.

        A setting that a run doesn't have is None.
        """
        names = list(self.runs)
        if one is None and other is None and len(names) < 2:
            raise ValueError(f"there is one run alone, {names[0]!r}: give Comparison two of them")
        one, other = (self._known(name) if name is not None else names[place] for place, name in enumerate((one, other)))
        mine, theirs = self.settings(one), self.settings(other)
        return {key: (mine.get(key), theirs.get(key)) for key in {**mine, **theirs} if mine.get(key) != theirs.get(key)}

    def explain(self, one=None, other=None):
        """The same in words, a line for each setting; of models only the layers that differ."""
        lines = []
        for key, (mine, theirs) in self.differences(one, other).items():
            if key == "model":
                lines += ["model:", *(f"  {line}" for line in _changed(str(mine), str(theirs)))]
            else:
                lines.append(f"{key}: {_text(mine)} → {_text(theirs)}")
        return "\n".join(lines) or self._twice(one, other) or "no setting differs"

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
        from .plots import overlay

        return overlay(self._titled(), ax, metric, against, smoothing)

    def picture(self, metric=None, against="epoch", smoothing=0.0):
        """Loss and another metric side by side, as a matplotlib Figure."""
        from .plots.overlay import overlay_figure

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
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join([*lines, *filter(None, [self._same(), self._doubles()])])

    def _repr_html_(self):
        (head, *rows), best = self._cells(), self._best()
        shown = [
            [f"<b>{html.escape(cell)}</b>" if (row, column) in best else html.escape(cell) for column, cell in enumerate(cells)]
            for row, cells in enumerate(rows)
        ]
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>" for cells in shown)
        same = "".join(f"<p>{html.escape(words)}</p>" for words in (self._same(), self._doubles()) if words)
        table = f"<table><tr>{''.join(f'<th>{html.escape(name)}</th>' for name in head)}</tr>{body}</table>"
        return f'<div style="overflow-x: auto; max-width: 100%">{table}</div>{same}'

    def _ipython_display_(self):
        from IPython.display import display

        from .plots.screens import in_notebook

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

    def _varied(self):
        """The settings in which not all runs are the same; the model's code is told by its number of parameters."""
        rows = [self.settings(name) for name in self.runs]
        keys = dict.fromkeys(key for row in rows for key in row)
        return [key for key in keys if any(row.get(key) != rows[0].get(key) for row in rows)]

    def _cells(self):
        """The texts of the table: heads, then a row a run."""
        varied, found = self._varied(), {name: self.results(name) for name in self.runs}
        results = self._told(found)
        models = list(dict.fromkeys(str(self.settings(name).get("model")) for name in self.runs))
        rows = [["run", *varied, "state", *results]]
        for name, row in found.items():
            settings = self.settings(name)
            named = {"model": f"model {1 + models.index(str(settings.get('model')))}"}
            cells = [named.get(key) or _text(settings.get(key)) for key in varied]
            rows.append([name, *cells, row["state"], *(_text(row.get(key)) for key in results)])
        return rows

    def _told(self, found):
        """The results that some run has: the usual ones first, then other metrics."""
        known = [*RESULTS, *dict.fromkeys(key for row in found.values() for key in row if key != "state" and key not in RESULTS)]
        return [key for key in known if any(row.get(key) is not None for row in found.values())]

    def _best(self):
        """Where the best of each result stands in the table: (run's number, column's number); nothing where all are the same."""
        found = [self.results(name) for name in self.runs]
        results, places = self._told(dict(enumerate(found))), set()
        first = 2 + len(self._varied())
        for column, key in enumerate(results, first):
            values = [row.get(key) for row in found]
            known = [value for value in values if isinstance(value, int | float) and math.isfinite(value)]
            if key != "epochs done" and len(known) > 1 and min(known) < max(known):
                best = min(known) if any(word in key for word in LESS_IS_BETTER) else max(known)
                places |= {(row, column) for row, value in enumerate(values) if value == best}
        return places

    def _same(self):
        """What all runs have in common, in a line."""
        varied, first = self._varied(), self.settings(next(iter(self.runs)))
        common = [f"{key} {_text(value)}" for key, value in first.items() if key not in varied and key != "model"]
        return f"the same: {' · '.join(common)}" if common and len(self.runs) > 1 else ""

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
        varied = [key for key in self._varied() if key not in ("model", "seed", "parameters")]
        said = {name: _text(self.settings(name).get(varied[0])) if len(varied) == 1 else "" for name in self.runs}
        titles = {first: " = ".join(names) for first, names in self._alike().items()}
        return {f"{t}: {said[n]}" if 0 < len(said[n]) <= 32 else t: self._records(n) for n, t in titles.items()}


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


def _named(value):
    """A setting, functions in it by their names alone: their addresses differ from run to run.

    >>> _named("AllReduce(algorithm=<function job.<locals>.mine at 0x7f12ab>)")
    'AllReduce(algorithm=mine)'
    """
    return FUNCTION.sub(r"\1", value) if isinstance(value, str) else value


def _state(records):
    """How a run ended, by its records; one that tells no end goes on."""
    last = records.last(Finish)
    return last.reason if last else "running"


def _seconds(records):
    """How long a run took, or has taken, without its pauses."""
    begin = records.last(Start)
    times = [record.time for record in records if hasattr(record, "time")]
    if begin is None or not times:
        return None
    return max(times) - begin.time - sum(record.seconds for record in records if isinstance(record, Resumed))


def _text(value):
    """A setting or result in few letters.

    >>> _text(0.98764), _text(123456.7), _text(None)
    ('0.9876', '123,457', '-')
    """
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    text = "-" if value is None else " ".join(str(value).split())
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def _changed(one, other):
    """The lines of two texts that differ: "- " before those of the first alone, "+ " before those of the second."""
    lines = difflib.ndiff(one.splitlines(), other.splitlines())
    return [" ".join(line.split()) for line in lines if line[:2] in ("- ", "+ ")]
