"""`dtnn train`: a training without a notebook, on one rank or, under ``mpiexec``, on all of its ranks."""

import importlib
import json
import os
import signal
import sys
from pathlib import Path

from . import machine, zoo
from .arrays_file import arrays
from .data import Dataset
from .fitting import Fitting
from .model_file import load
from .model_file import made as model_of
from .named import named
from .recipe import MODULES
from .records import Stop
from .spelled import made
from .told import Told
from .training import Save

# What launchers of MPI put into a rank's environment.
RANK_VARIABLES = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_FD", "MPI_LOCALRANKID")


def train(asked):
    """Train as the command line asks; 0 when it came to its end.

    A rank that fails prints its traceback and ends the whole job: the others would wait for it for ever.

    Parameters
    ----------
    asked : namespace
        The command line's arguments, see `dtnn.cli`.
    """
    comm = communicator(asked.ranks)
    told = Told(comm, asked.out)
    try:
        _train(comm, asked, told)
    except BaseException as error:
        told.failed(error)
        if comm.size == 1:
            raise
        comm.world.Abort(1)
    return 0


def communicator(ranks=None):
    """All ranks of ``mpiexec``, or this process alone.

    Raises
    ------
    RuntimeError
        There are not as many as were asked for: launcher and library don't know each other.
    """
    from .comm import MPI, Serial

    comm = MPI(blocking=True) if any(name in os.environ for name in RANK_VARIABLES) else Serial()
    if ranks is not None and comm.size != ranks:
        raise RuntimeError(
            f"this is rank {comm.rank} of {comm.size}, and --ranks {ranks} were asked for: run it under mpiexec -n {ranks}, "
            "of the same vendor as the MPI library (dtnn doctor tells)"
        )
    return comm


def _train(comm, asked, told):
    model, samples = _model(asked), _data(asked.data)
    asked.out.mkdir(parents=True, exist_ok=True)
    callbacks = [made(text, MODULES["callback"], "callback") for text in asked.callback]
    settings = {**_settings(asked, model), "callbacks": [*callbacks, Save(asked.out / "model.npz")]}
    fitting = Fitting.of(model, samples, None, settings)
    job, arguments = fitting.job(comm.size)
    if comm.rank == 0:
        fitting.advise(comm.size)
    told.epochs = fitting.epochs
    with machine.threads(asked.threads):
        _follow(job(comm, *arguments), told, _Terminated())


def _follow(generator, told, terminated):
    """Tell all records; SIGTERM, which batch systems send before they kill, ends the training after its step."""
    command = None
    while True:
        try:
            record = generator.send(command)
        except StopIteration:
            break
        if record is None:
            raise RuntimeError("a callback paused this training, but nobody could let it go on")
        told(record)
        command = terminated.stop()
    told.end()


class _Terminated:
    """Whether the batch system wants an end."""

    def __init__(self):
        self.asked, self.said = False, False
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "asked", True))

    def stop(self):
        """The `Stop` to answer a record with, once."""
        if self.asked and not self.said:
            self.said = True
            return Stop("the batch system asked for an end (SIGTERM)")
        return None


# ---- from texts to things


def _model(asked):
    """From a model's file, its description in JSON, or its name in the zoo."""
    path, own = Path(asked.model), [_layer(text) for text in asked.layer]
    if path.suffix == ".npz":
        return load(path, layers=own)
    if path.suffix == ".json":
        return _described(path, own)
    return named(zoo, asked.model, "model")() if asked.model.isidentifier() else made(asked.model, [zoo], "model")


def _described(path, own):
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(values, dict) or values.get("format") != "dtnn model":
            raise ValueError("it doesn't say so")
        return model_of(values, own)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is no description of a dtnn model, or is damaged: {error}") from None


def _layer(text):
    """The class that "module:Class" names."""
    module, _, name = text.partition(":")
    sys.path[:0] = [os.getcwd()] * (os.getcwd() not in sys.path)
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"--layer {text}: {error}; write module:Class, with the module where Python finds it (PYTHONPATH)"
        ) from None


def _data(text):
    """A data set of `dtnn.data`, by name or call; or the arrays x_train, y_train, x_test, y_test of a .npz file."""
    if not text.endswith(".npz"):
        found = made(text, MODULES["data"], "data")
        return found() if callable(found) else found
    parts = arrays(text, ("x_train", "y_train", "x_test", "y_test"))
    if "x_train" not in parts or "y_train" not in parts:
        raise ValueError(f"--data {text}: it has {', '.join(arrays(text))}, and should have x_train, y_train, x_test, y_test")
    return Dataset(**parts, name=Path(text).stem)


def _settings(asked, model):
    """What `fit` is to be told."""
    names = ("epochs", "batch_size", "batch_size_per_rank", "seed", "deterministic", "evaluate_first")
    settings = {name: getattr(asked, name) for name in names if getattr(asked, name) not in (None, False)}
    for name in ("optimizer", "loss", "strategy"):
        text = getattr(asked, name)
        if text is not None:
            settings[name] = made(text, MODULES[name], name) if "(" in text else text
    if asked.metric:
        settings["metrics"] = [made(text, MODULES["metric"], "metric") if "(" in text else text for text in asked.metric]
    if asked.no_validation:
        settings["validation_data"] = False
    return {**settings, "resume": asked.resume and model.training is not None}
