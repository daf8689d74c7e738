"""A script for a batch system that trains, without a notebook, what a run trained."""

import dataclasses
import json
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from ..records import Start
from ..whole_file import whole_file
from . import launchers

SYSTEMS = ("slurm", "shell")


@dataclass(frozen=True)
class Batch:
    """What a batch system has to be told.

    Parameters
    ----------
    account, partition : str, optional
    time : str or int, optional
        Limit, as Slurm writes it: minutes, or "hours:minutes:seconds".
    nodes : int, optional
    lines : sequence of str
        More lines for the script, as they are: ``#SBATCH --qos=short``, ``module load ...``.

    Examples
    --------
    >>> print(Batch(partition="main", time="1:00:00", lines=["#SBATCH --qos=short", "module load gcc"]).head("dtnn", 4, 2, "log"))
    #!/bin/bash
    #SBATCH --job-name=dtnn
    #SBATCH --ntasks=4
    #SBATCH --cpus-per-task=2
    #SBATCH --output=log
    #SBATCH --partition=main
    #SBATCH --time=1:00:00
    #SBATCH --qos=short
    module load gcc
    """

    account: str | None = None
    partition: str | None = None
    time: str | int | None = None
    nodes: int | None = None
    lines: tuple = ()

    def __post_init__(self):
        object.__setattr__(self, "lines", (self.lines,) if isinstance(self.lines, str) else tuple(self.lines))
        for name in ("account", "partition", "time", "nodes"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str | int) or isinstance(value, bool) or _breaks(str(value))):
                raise ValueError(f"{name}={value!r} can't stand in a batch script; give one word or number")
        if any(not isinstance(line, str) or "\n" in line for line in self.lines):
            raise ValueError(f"lines={self.lines!r}: give a list of lines, such as ['#SBATCH --qos=short']")

    def head(self, name, ranks, threads, log):
        """The beginning of a script for Slurm."""
        told = {"job-name": name, "ntasks": ranks, "cpus-per-task": threads, "output": log}
        asked = {name: getattr(self, name) for name in ("account", "partition", "time", "nodes")}
        options = [f"#SBATCH --{key}={value}" for key, value in {**told, **asked}.items() if value is not None]
        own = sorted(self.lines, key=lambda line: not line.startswith("#SBATCH"))  # sbatch reads none behind a command
        return "\n".join(["#!/bin/bash", *options, *own])


def batch_of(given, what):
    """The `Batch` of these settings; one that isn't known is told with those that are."""
    known = [field.name for field in dataclasses.fields(Batch)]
    strange = sorted(given.keys() - set(known))
    if strange:
        raise TypeError(f"{what} has no setting {strange[0]!r}; a batch system is told {', '.join(known)}")
    return Batch(**given)


def to_batch(run, system, folder, ranks=None, threads_per_rank=1, data=None, model=None, batch=Batch()):
    """Write the script, and the model beside it; see `Run.to_batch`."""
    if system not in SYSTEMS:
        raise ValueError(f"no batch system is called {system!r}: there are {', '.join(map(repr, SYSTEMS))}")
    recipe = _recipe(run, data, model)
    folder, ranks = Path(folder).expanduser().absolute(), ranks or run.size
    folder.mkdir(parents=True, exist_ok=True)
    source = Path(model).absolute() if model is not None else folder / "model.json"
    if model is None:
        with whole_file(source) as file:
            file.write(json.dumps(recipe["model"], indent=1).encode())
    options = recipe["options"]
    if data is not None:
        options = [*_without(options, "--data"), "--data", str(Path(data).absolute())]
    command = ["train", str(source), *options, "--out", str(folder), "--ranks", str(ranks), "--threads", str(threads_per_rank)]
    path = folder / ("train.sbatch" if system == "slurm" else "train.sh")
    return _written(path, _script(recipe, command, folder, ranks, threads_per_rank, batch))


def _recipe(run, data, model):
    """The run's recipe; a `ValueError` says why there is none."""
    start = run.records.of(Start)[:1]
    recipe = start[0].settings.get("recipe") if start else None
    if recipe is None:
        raise ValueError(
            f"{run!r} is no training that has begun; to_batch is for runs of model.start, from their first record on"
        )
    given = {"data": data, "model": model}
    problems = [text for topic, text in recipe["problems"] if given.get(topic) is None]
    if problems:
        raise ValueError("this run can't become a batch job:\n" + "\n".join(f"- {text}" for text in problems))
    return recipe


def _without(options, name):
    place = options.index(name) if name in options else len(options)
    return options[:place] + options[place + 2 :]


def _script(recipe, command, folder, ranks, threads, batch):
    python = [launchers.mpiexec(), "-n", str(ranks), sys.executable, "-m", "dtnn"]
    paths = [*recipe["paths"], *filter(None, [launchers.where_dtnn_is().get("PYTHONPATH")])]
    lines = [
        batch.head(folder.name, ranks, threads, folder / "log-%j.txt"),
        "# Written by dtnn. Trains on all ranks; when one fails, all end, with an exit code that is not 0.",
        *(f"export {name}={threads}" for name in launchers.POOLS),
        *([f"export PYTHONPATH={shlex.quote(os.pathsep.join(paths))}"] if paths else []),
        *(f"export {name}={value}" for name, value in launchers.OPEN_MPI.items()),
        f"exec {shlex.join(python)} \\\n    {_folded(command)}",
    ]
    return "\n".join(lines) + "\n"


def _folded(words):
    """A command over several lines, an option a line."""
    text = ""
    for word in words:
        text += (" \\\n    " if word.startswith("--") else " " * bool(text)) + shlex.quote(word)
    return text


def _written(path, text):
    with whole_file(path) as file:
        file.write(text.encode())
    path.chmod(0o755)
    return path


def _breaks(text):
    return not text or any(character.isspace() for character in text)
