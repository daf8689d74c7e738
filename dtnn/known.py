"""The settings of `fit`, checked before anything runs: each by name where it has one, each with a word on what it may be."""

import difflib
import operator

from . import nn, optim
from .named import chosen
from .parallel import AllReduce


def optimizer(optimizer):
    """An optimizer, or the one of that name."""
    found = chosen(optim, optimizer, "optimizer")
    if isinstance(found, type) or not all(hasattr(found, verb) for verb in ("state", "update", "rate")):
        hint = (
            f"write {found.__name__}(...)" if isinstance(found, type) else 'give one of dtnn.optim, such as SGD(0.01), or "adam"'
        )
        raise TypeError(f"optimizer={optimizer!r} is no optimizer; {hint}")
    return found


def loss(loss):
    """A loss, or the one of that name."""
    found = chosen(nn.losses, loss, "loss")
    if not callable(found) or isinstance(found, type):
        raise TypeError(f"loss={loss!r} is no function; give one of dtnn.nn.losses, such as cross_entropy")
    return found


def metrics(metrics):
    """Metrics, or those of that name; one alone is a list of one."""
    listed = (metrics,) if isinstance(metrics, str) or hasattr(metrics, "sums") else metrics
    try:
        found = tuple(chosen(nn.metrics, metric, "metric") for metric in listed)
    except TypeError:
        found = (None,)
    if not all(hasattr(metric, "sums") and hasattr(metric, "value") for metric in found):
        raise TypeError(f'metrics={metrics!r}: give a list of names or of metrics of dtnn.nn.metrics, such as ["accuracy"]')
    return found


def callbacks(callbacks):
    """Functions of a record; one alone is a list of one."""
    found = (callbacks,) if callable(callbacks) else callbacks
    if not isinstance(found, list | tuple) or not all(map(callable, found)):
        raise TypeError(f"callbacks={callbacks!r}: give a list of functions of a record, such as [print]")
    return tuple(found)


def strategy(strategy):
    """A strategy; the name of an all-reduce algorithm, or a function, stands for `AllReduce` with it."""
    if strategy is None:
        return AllReduce()
    if isinstance(strategy, str) or (callable(strategy) and not isinstance(strategy, type)):
        return AllReduce(strategy)
    if isinstance(strategy, type) or not hasattr(strategy, "begin"):
        raise TypeError(f"strategy={strategy!r} is none; give one of dtnn.parallel, such as AllReduce()")
    return strategy


def cluster(cluster):
    """Something that runs jobs on ranks."""
    if not hasattr(cluster, "run") or not hasattr(cluster, "ranks"):
        raise TypeError(f"cluster={cluster!r:.60} is no cluster; start one with dtnn.Cluster(2), or leave it out to train here")
    return cluster


def seed(seed):
    """A seed."""
    return whole("seed", seed, 0, 2**63 - 1)


def flag(name, value):
    """True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{name}={value!r}: give True or False")
    return value


def trace(value):
    """Which steps are traced: True, a whole number, or False.

    >>> trace(True), trace(10), trace(None)
    (True, 10, False)
    """
    try:
        return bool(value) if value is None or isinstance(value, bool) else whole("trace", value, 1)
    except ValueError as error:
        raise ValueError(f"{error}: every so many steps; True for one every half second, or False for none") from None


def whole(name, value, least, most=None):
    """A whole number within bounds."""
    try:
        found = operator.index(None if isinstance(value, bool) else value)
    except TypeError:
        found = least - 1
    if found < least or (most is not None and found > most):
        raise ValueError(f"{name}={value!r}: give a whole number of at least {least}" + (f" and at most {most}" if most else ""))
    return found


def names(settings, known, what):
    """Raise TypeError for a setting that isn't known, with the nearest one that is."""
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise TypeError(f"{what} has no setting {name!r}; {hint}")
