"""The method of `Run` that writes a script for a batch system, which trains, without a notebook, what the run trained."""

import json
import os
import shlex
import sys
from pathlib import Path

from ..allowed import one_of, path, whole
from ..records import Start
from ..whole_file import whole_file
from . import launchers
from .batch import batch_of

SYSTEMS = ("slurm", "shell")


def to_batch(run, system, folder, *, ranks=None, threads_per_rank=1, data=None, model=None, **batch):
    """Write a script that trains the same, from the beginning, without a notebook; returns its path.

    It runs ``dtnn train`` under this environment's ``mpiexec``; when one rank fails, all end. `Run.load` reads
    ``run.json`` in `folder`, and `dtnn.load` ``model.npz``, which is saved after each epoch.

    Parameters
    ----------
    system : str
        "slurm": for ``sbatch``; "shell": a script for any shell, or for another batch system.
    folder : path
        Where the script, the model's description and the results go; made where it isn't. The ranks have to see it, too.
    ranks, threads_per_rank : int, optional
        As many ranks as this run's, and one thread each, if nothing is said.
    data : path, optional
        A ``.npz`` file of x_train, y_train, x_test, y_test, where the data of this run have no name.
    model : path, optional
        A file of `Model.save` to begin with, where this run didn't begin with the model's first weights.
    **batch
        What Slurm is to be told: account, partition, time, nodes, and `lines`, more lines for the script.

    Raises
    ------
    ValueError, TypeError
        There is no such setting or system; or this run can't be repeated so: a layer was defined in a notebook cell, data have no
        name ...; says what to do.

    Examples
    --------
    >>> import dtnn, tempfile
    >>> with dtnn.Cluster(2, "threads") as cluster, tempfile.TemporaryDirectory() as folder:
    ...     run = dtnn.zoo.mlp().start(dtnn.data.mnist5k(), cluster=cluster, batch_size=1000)
    ...     _ = run.result()
    ...     script = run.to_batch("slurm", folder, ranks=8, partition="main", time="1:00:00")
    ...     print(script.name, "#SBATCH --ntasks=8" in script.read_text())
    train.sbatch True
    """
    one_of("system", system, SYSTEMS)
    files = {"data": data, "model": model}
    recipe, told = _recipe(run, data, model), batch_of(batch, "to_batch")
    ranks, threads = whole("ranks", run.size if ranks is None else ranks, 1), whole("threads_per_rank", threads_per_rank, 1)
    data, model = (None if given is None else Path(path(name, given)).absolute() for name, given in files.items())
    folder = Path(path("folder", folder)).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "model.json" if model is None else model
    if model is None:
        with whole_file(source) as file:
            file.write(json.dumps(recipe["model"], indent=1).encode())
    options = recipe["options"]
    if data is not None:
        options = [*_without(options, "--data"), "--data", str(data)]
    command = ["train", str(source), *options, "--out", str(folder), "--ranks", str(ranks), "--threads", str(threads)]
    script = folder / ("train.sbatch" if system == "slurm" else "train.sh")
    return _written(script, _script(recipe, command, folder, ranks, threads, told))


def _recipe(run, data, model):
    """The run's recipe; a `ValueError` says why there is none."""
    start = run.records.of(Start)[:1]
    recipe = start[0].settings.get("recipe") if start else None
    if recipe is None and run.state == "waiting":
        raise ValueError(f"{run!r} has not begun yet: call to_batch a moment later, or after run.wait()")
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
