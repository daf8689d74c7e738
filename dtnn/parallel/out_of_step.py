"""`out_of_step`: whether a strategy's ranks take each step together."""


def out_of_step(strategy):
    """Why there is nothing that all ranks do in the same step, in words; "" where they take each step together.

    Parameters
    ----------
    strategy : Strategy

    Examples
    --------
    >>> from dtnn.parallel import Accumulate, AllReduce, ParameterServer
    >>> out_of_step(Accumulate(4, AllReduce("ring")))
    ''
    >>> out_of_step(ParameterServer(None))
    'ParameterServer(staleness=None) lets each worker be at a step of its own; use staleness=0'
    """
    while strategy is not None:
        if reason := getattr(strategy, "out_of_step", ""):
            return f"{strategy!r} {reason}"
        strategy = getattr(strategy, "strategy", None)
    return ""


def check_in_step(strategy, phases=True):
    """Raise a `ValueError` where steps are to be told phase by phase, and a strategy's ranks don't take them together.

    >>> from dtnn.parallel import ParameterServer
    >>> check_in_step(ParameterServer())
    """
    apart = out_of_step(strategy) if phases else ""
    if apart:
        raise ValueError(f"phases=True, but {apart}")
