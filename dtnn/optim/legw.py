"""LEGW: how the learning rate and its warm-up go with the size of the batch."""

import math

from ..allowed import number
from .scaled import scaled
from .schedules import warm_up


def legw(lr, times, epochs=0.1):
    """Linear-epoch gradual warm-up: for `times` the batch, sqrt(times) the rate, after `times` as many epochs of warm-up.

    As an epoch of the larger batch has so many fewer steps, the warm-up takes as many steps as before.

    Parameters
    ----------
    lr : float or schedule
        What was found good for the smaller batch, such as ``poly(0.1, 2)``.
    times : float
        k, how many times larger the batch is.
    epochs : float
        Of warm-up that the smaller batch needs.

    Returns
    -------
    schedule

    Raises
    ------
    ValueError
        `times` below 1.

    Notes
    -----
    You, Hseu, Ying, Demmel, Keutzer and Hsieh (2019), "Large-batch training for LSTM and beyond", for any optimizer.

    Examples
    --------
    >>> legw(0.1, 64)
    warm_up(0.8, 6.4)
    """
    number("times", times, "how many times larger the batch is, 1 or more", lambda times: 1 <= times < math.inf)
    number("epochs", epochs, "epochs of warm-up, 0 or more", lambda epochs: 0 <= epochs < math.inf)
    return warm_up(scaled(lr, times, "sqrt"), times * epochs)
