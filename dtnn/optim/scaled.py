"""The learning rate for more ranks: an explicit choice, never hidden."""

import math

from ..allowed import number, shown
from .schedule import is_schedule, rate
from .schedules import times

RULES = {"linear": lambda ranks: ranks, "sqrt": math.sqrt, None: lambda ranks: 1}


def scaled(lr, ranks, rule="linear"):
    """A learning rate, or a schedule, for `ranks` times the batch it was found with.

    Parameters
    ----------
    lr : float or schedule
        For the batch of one rank.
    ranks : int
        How many times larger the global batch is.
    rule : "linear", "sqrt" or None
        lr ranks (Goyal et al., 2017: for SGD, with warm-up), lr sqrt(ranks) (for Adam, LAMB), or lr.

    Returns
    -------
    float, or a schedule

    Raises
    ------
    ValueError
        Another rule, or no positive number of ranks.

    Examples
    --------
    >>> scaled(0.1, 4), scaled(0.1, 4, "sqrt"), scaled(0.1, 4, None)
    (0.4, 0.2, 0.1)
    """
    if rule not in list(RULES):
        raise ValueError(f'rule={shown(rule)} is no way to scale a learning rate: use "linear", "sqrt" or None')
    number("ranks", ranks, "how many times larger the batch is, 1 or more", lambda ranks: 1 <= ranks < math.inf)
    factor = RULES[rule](ranks)
    return times(lr, factor) if is_schedule(lr) else rate("lr", lr) * factor
