"""The settings of `fit`, checked before anything runs: each by name where it has one, each with a word on what it may be."""

import difflib

import numpy as np

from . import nn, optim, parallel
from .allowed import flag as flag
from .allowed import shown, whole
from .comm.collectives import ALGORITHMS
from .named import chosen
from .parallel import AllReduce


def optimizer(optimizer):
    """An optimizer, or the one of that name."""
    found = chosen(optim, optimizer, "optimizer")
    if isinstance(found, type) or not all(hasattr(found, verb) for verb in ("state", "update", "rate")):
        hint = (
            f"write {found.__name__}(...)" if isinstance(found, type) else 'give one of dtnn.optim, such as SGD(0.01), or "adam"'
        )
        raise TypeError(f"optimizer={shown(optimizer)} is no optimizer; {hint}")
    return found


def loss(loss):
    """A loss, or the one of that name."""
    found = chosen(nn.losses, loss, "loss")
    if not callable(found) or isinstance(found, type):
        raise TypeError(f"loss={shown(loss)} is no function; give one of dtnn.nn.losses, such as cross_entropy")
    return found


def metrics(metrics):
    """Metrics, or those of that name; one alone is a list of one; None stays None."""
    if metrics is None:
        return None
    listed = (metrics,) if isinstance(metrics, str) or hasattr(metrics, "sums") else metrics
    try:
        found = tuple(chosen(nn.metrics, metric, "metric") for metric in listed)
    except TypeError:
        found = (None,)
    for metric in found:
        if isinstance(metric, type):
            raise TypeError(f"metrics: {metric.__name__} is a class; write {metric.__name__}(...)")
    if not all(hasattr(metric, "sums") and hasattr(metric, "value") for metric in found):
        raise TypeError(f'metrics={shown(metrics)}: give a list of names or of metrics of dtnn.nn.metrics, such as ["accuracy"]')
    return found


def usual_metrics(loss, targets, outputs):
    """What is measured where nothing is said: the accuracy if the targets are labels or shares of classes, else nothing.

    Parameters
    ----------
    loss : function
    targets : ndarray
    outputs : tuple
        Shape of one sample at the model's end.

    Examples
    --------
    >>> import numpy as np
    >>> usual_metrics(nn.mse, np.eye(3), (3,)), usual_metrics(nn.mse, np.ones((5, 1)), (1,))
    ((Accuracy(),), ())
    """
    if getattr(loss, "takes_labels", False):
        return (nn.accuracy,)
    if len(outputs) != 1:
        return ()
    if outputs == (1,):
        return (nn.accuracy,) if loss is nn.binary_cross_entropy else ()
    shares = targets.shape[1:] == outputs and targets.min() >= 0 and np.allclose(targets.sum(1), 1)
    return (nn.accuracy,) if shares or (targets.ndim == 1 and targets.dtype.kind == "i") else ()


def callbacks(callbacks):
    """Functions of a record; one alone is a list of one."""
    found = (callbacks,) if callable(callbacks) else callbacks
    if not isinstance(found, list | tuple) or not all(map(callable, found)):
        raise TypeError(f"callbacks={shown(callbacks)}: give a list of functions of a record, such as [print]")
    for callback in found:
        if isinstance(callback, type):
            raise TypeError(f"callbacks: {callback.__name__} is a class; write {callback.__name__}(...)")
    return tuple(found)


def strategy(strategy):
    """A strategy, or the one of that name; an all-reduce algorithm, by name or itself, stands for `AllReduce` with it.

    >>> strategy("sharded"), strategy("ring")
    (Sharded(), AllReduce(algorithm='ring', bucket_bytes=None, overlap=False))
    """
    if strategy is None:
        return AllReduce()
    if isinstance(strategy, str):
        return _strategy_called(strategy)
    if callable(strategy) and not isinstance(strategy, type):
        return AllReduce(strategy)
    if isinstance(strategy, type) or not hasattr(strategy, "begin"):
        raise TypeError(f"strategy={shown(strategy)} is none; give one of dtnn.parallel, such as AllReduce()")
    return strategy


def _strategy_called(name):
    strategies = {each.lower(): each for each in parallel.STRATEGIES}
    if name in ALGORITHMS:
        return AllReduce(name)
    if name.lower() in strategies:
        return getattr(parallel, strategies[name.lower()])()
    near = difflib.get_close_matches(name.lower(), [*strategies, *ALGORITHMS], 1, 0.4)
    hint = f"did you mean {strategies.get(near[0], near[0])!r}? " if near else ""
    raise ValueError(
        f"strategy={shown(name)}: {hint}there are the strategies of dtnn.parallel, {', '.join(parallel.STRATEGIES)}, "
        f"and the algorithms of an all-reduce, {', '.join(ALGORITHMS)}"
    )


def cluster(cluster):
    """Something that runs jobs on ranks."""
    if not hasattr(cluster, "run") or not hasattr(cluster, "ranks"):
        raise TypeError(f"cluster={shown(cluster)} is no cluster; start one with dtnn.Cluster(2), or leave it out to train here")
    return cluster


def seed(seed):
    """A seed."""
    return whole("seed", seed, 0, 2**63 - 1)


def trace(value):
    """Which steps are traced: True, a whole number, or False.

    >>> trace(True), trace(10), trace(None)
    (True, 10, False)
    """
    try:
        return bool(value) if value is None or isinstance(value, bool) else whole("trace", value, 1)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error}: every so many steps; True for one every half second, or False for none") from None


RATE = "give it to the optimizer: optimizer=SGD(0.01, momentum=0.9)"
RANKS = "give cluster=dtnn.Cluster(2)"
INSTEAD = {  # of what `fit` takes elsewhere
    **dict.fromkeys(("lr", "learning_rate", "momentum", "weight_decay"), RATE),
    **dict.fromkeys(("ranks", "workers", "num_workers", "nprocs", "devices", "processes"), RANKS),
    **dict.fromkeys(("x", "X", "inputs", "x_train"), "give the inputs by position, fit(x, y)"),
    **dict.fromkeys(("targets", "labels", "y_train"), "give the targets by position, fit(x, y)"),
    "verbose": "give show=False to see nothing",
    "progress": "give show=False to see nothing",
    "shuffle": "the samples come in another order in each epoch, the same on any number of ranks; seed= sets which",
    "validation_split": "give the samples themselves, validation_data=(x, y)",
    "initial_epoch": "give resume=True, which goes on where the last training ended",
    "steps_per_epoch": "an epoch is all samples, batch_size of them a step",
    "class_weight": "a loss is a function, so one of your own may weigh the classes",
    "sample_weight": "a loss is a function, so one of your own may weigh the samples",
}


def names(settings, known, what):
    """Raise TypeError for a setting that isn't known, with the nearest one that is, or what other libraries' is here."""
    for name in settings:
        if name not in known and name in INSTEAD:
            raise TypeError(f"{what} has no setting {name!r}; {INSTEAD[name]}")
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise TypeError(f"{what} has no setting {name!r}; {hint}")
