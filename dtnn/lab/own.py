"""What the notebook itself defines and a panel can offer: functions that sum an array over all ranks, strategies, losses."""

import inspect


def own_allreduces(names):
    """The all-reduces in a namespace, by name: functions whose first arguments are called comm and array, the rest with defaults.

    Examples
    --------
    >>> def mine(comm, array, chunk=4):
    ...     comm.Allreduce(array)
    >>> sorted(own_allreduces({"mine": mine, "other": lambda x: x, "_hidden": mine}))
    ['mine']
    """
    return {name: thing for name, thing in list(names.items()) if not name.startswith("_") and _sums(thing)}


def own_strategies(names):
    """The strategies in a namespace, by name: classes of the user's own, and objects of these or of dtnn's.

    Examples
    --------
    >>> from dtnn.parallel import LocalSGD
    >>> own_strategies({"every8": LocalSGD(8), "LocalSGD": LocalSGD, "n": 3})
    {'every8': LocalSGD(every=8, after=0)}
    """
    found = {name: thing for name, thing in list(names.items()) if not name.startswith("_") and _begins(thing)}
    ours = [name for name, thing in found.items() if isinstance(thing, type) and thing.__module__.startswith("dtnn.")]
    return {name: thing for name, thing in found.items() if name not in ours}


def own_losses(names):
    """The losses in a namespace, by name: functions (outputs, targets, weight), objects that are called so, and classes of these.

    Examples
    --------
    >>> def square(outputs, targets, weight):
    ...     return ((outputs - targets) ** 2).sum() / weight, 2 * (outputs - targets) / weight
    >>> from dtnn.nn import mse
    >>> sorted(own_losses({"square": square, "mse": mse, "other": lambda x: x, "_hidden": square}))
    ['square']
    """
    return {name: thing for name, thing in list(names.items()) if not name.startswith("_") and _judges(thing)}


def called(function):
    """The name of a function that was handed over, for a list.

    >>> called(lambda comm, array: None), called(print)
    ('yours', 'print')
    """
    name = getattr(function, "__name__", "yours")
    return name if name.isidentifier() else "yours"


def _sums(thing):
    if not inspect.isfunction(thing):
        return False
    parameters = list(inspect.signature(thing).parameters.values())
    named = [parameter.name for parameter in parameters[:2]] == ["comm", "array"]
    return named and all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters[2:])


def _judges(thing):
    """Whether it is a loss that dtnn has not, or a class of such."""
    if inspect.ismodule(thing) or str(getattr(thing, "__module__", "")).startswith("dtnn.nn."):
        return False
    call = thing if inspect.isfunction(thing) else inspect.getattr_static(_class_of(thing), "__call__", None)
    if not inspect.isfunction(call):
        return False
    parameters = [*inspect.signature(call).parameters.values()][int(call is not thing) :]
    named = [parameter.name for parameter in parameters[:3]] == ["outputs", "targets", "weight"]
    return named and all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters[3:])


def _class_of(thing):
    return thing if isinstance(thing, type) else type(thing)


def _begins(thing):
    """Whether it is a strategy, or a class of them."""
    begin = inspect.getattr_static(_class_of(thing), "begin", None)
    return inspect.isfunction(begin) and [*inspect.signature(begin).parameters][1:] == ["comm", "parameters", "optimizer"]
