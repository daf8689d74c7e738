"""What was asked of `fit`, as plain values from which a batch job can train the same thing."""

import dataclasses
import inspect
import os
import sys

from . import data, nn, optim, parallel, training
from .description import describe_row
from .nn.tree import named_layers, named_parameters
from .optim.schedule import Schedule
from .spelled import call, made

MODULES = {
    "optimizer": (optim, optim.schedules, *map(inspect.getmodule, (optim.plateau, optim.scaled, optim.legw))),
    "loss": (nn.losses, nn.regression_losses),
    "metric": (nn.metrics, nn.metrics.right, nn.metrics.confusion, nn.metrics.errors),
    "strategy": (parallel,),
    "callback": (training,),
    "data": (data, data.toy2d),
}


def recipe(fitting, given, validation_data):
    """The model as plain values, the options of ``dtnn train``, and what stands in the way of that.

    Parameters
    ----------
    fitting : Fitting
    given : Dataset or arrays
        The data as the user gave them.
    validation_data : object
        As the user gave it.

    Returns
    -------
    dict
        "model" (None if it can't be described), "options" (a list of texts), "paths" (folders of the user's modules),
        "problems" (pairs: which setting a batch job can't have, and a text with the remedy).
    """
    problems, options = [], []
    model = _described(fitting.model, problems)
    own, paths = _own_layers(fitting.model, problems)
    for name in own:
        options += ["--layer", name]
    options += _data(given, validation_data, problems)
    options += ["--epochs", str(fitting.epochs), *_batch(fitting), "--seed", str(fitting.seed)]
    options += _spelled("optimizer", fitting.optimizer, problems) + _spelled("loss", fitting.loss, problems)
    options += _spelled("strategy", fitting.strategy, problems)
    for kind, things in (("metric", fitting.metrics), ("callback", fitting.callbacks)):
        for thing in things:
            options += _spelled(kind, thing, problems)
    options += ["--deterministic"] * fitting.deterministic + ["--evaluate-first"] * fitting.evaluate_first
    return {"model": model, "options": options, "paths": paths, "problems": problems}


def model_values(model):
    """The model as plain values, without its weights: what `dtnn train` reads; a `ValueError` if a layer can't be described."""
    return {
        "format": "dtnn model",
        "layers": describe_row(model.layers),
        "input_shape": list(model.input_shape),
        "seed": model.seed,
        "dtype": model.dtype,
        "frozen": [name for name, _, trainable in named_parameters(model.net) if not trainable],
    }


def _described(model, problems):
    if model.steps:
        text = f"the model had made {model.steps} steps before this run: save it as it was then (model.save), and give that file"
        problems.append(("model", f"{text}: model=..."))
    try:
        return model_values(model)
    except ValueError as error:
        problems.append(("layer", str(error)))
        return None


def _own_layers(model, problems):
    """The user's own layers as "module:Class", and the folders in which their modules are found."""
    own, paths = [], []
    for cls in {type(layer) for _, layer, _ in named_layers(model.net)}:
        if cls.__module__.split(".")[0] == __package__:
            continue
        if cls.__module__ in ("__main__", "__mp_main__") or cls.__module__ not in sys.modules or "<locals>" in cls.__qualname__:
            text = (
                f"layer {cls.__name__} is defined in a notebook cell or script, where a batch job can't find it: "
                "put it in a module (a .py file), and import it from there"
            )
            problems.append(("layer", text))
        else:
            own.append(f"{cls.__module__}:{cls.__name__}")
            paths += _folder(cls.__module__)
    return sorted(own), sorted(set(paths))


def _folder(module):
    """Where Python finds a module; nothing for one that is built in."""
    file = getattr(sys.modules[module.split(".")[0]], "__file__", None)
    if file is None:
        return []
    file = os.path.abspath(file)
    return [os.path.dirname(os.path.dirname(file) if file.endswith("__init__.py") else file)]


def _data(given, validation_data, problems):
    options, source = [], getattr(given, "source", None)
    text = (call(source[0].__name__, source[1]) if source[1] else source[0].__name__) if source else None
    if text is None or not _can_be_made(text, "data", read_only=True):
        text = (
            "the data have no name that a batch job could find them by: use a data set of dtnn.data, or save yours with "
            "numpy.savez(file, x_train=..., y_train=..., x_test=..., y_test=...) and give that file: data=..."
        )
        problems.append(("data", text))
    else:
        options += ["--data", text]
    if validation_data is False:
        options += ["--no-validation"]
    elif validation_data is not None:
        problems.append(("validation", "validation_data are arrays of the notebook: make them x_test and y_test of the data set"))
    return options


def _batch(fitting):
    if fitting.batch_size_per_rank is not None:
        return ["--batch-size-per-rank", str(fitting.batch_size_per_rank)]
    return ["--batch-size", str(fitting.batch_size)] if fitting.batch_size is not None else []


def _spelled(kind, thing, problems):
    text = _text(thing)
    if _can_be_made(text, kind) and alike(made(text, MODULES[kind], kind), thing):
        return [f"--{kind}", text]
    remedy = "use one of dtnn's, or train in a script of your own under mpiexec"
    problems.append((kind, f"{kind} {text[:80]} is your own, and a batch job can't make it: {remedy}"))
    return []


def alike(one, other):
    """Whether two things are the same, down to their settings: one of the user's own may have the name of one of dtnn's.

    >>> alike(optim.SGD(0.1), optim.SGD(0.1)), alike(optim.SGD(0.1), optim.SGD(optim.cosine(0.1)))
    (True, False)
    """
    if one is other or type(one) is not type(other):
        return one is other
    if isinstance(one, Schedule):
        settings = zip(one.arguments.arguments.values(), other.arguments.arguments.values())
        return one.make is other.make and all(alike(*pair) for pair in settings)
    if dataclasses.is_dataclass(one):
        return all(alike(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(one) if field.init)
    return one == other


def _text(thing):
    """The call that makes a thing, without what goes without saying, or a function's name."""
    if dataclasses.is_dataclass(thing):
        fields = [field for field in dataclasses.fields(thing) if field.init]
        settings = {field.name: getattr(thing, field.name) for field in fields if getattr(thing, field.name) != field.default}
        return call(type(thing).__name__, (), settings)
    return getattr(thing, "__name__", None) or repr(thing)


def _can_be_made(text, kind, read_only=False):
    """Whether a batch job could make it; data are only looked up, for making them may take long."""
    try:
        made(text.partition("(")[0] if read_only else text, MODULES[kind], kind)
    except (ValueError, OSError):
        return False
    return True
