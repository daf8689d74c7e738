"""What the notebook itself defines and a panel can offer: functions that sum an array over all ranks."""

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
