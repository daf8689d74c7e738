"""Schedules: the learning rate as a function of the progress.

Any function of a `Progress` that returns a number is one.  Those here are written as such, with their settings behind;
called with the settings alone they give the schedule: ``SGD(lr=cosine(0.1))``.  They keep no state, so all ranks agree, and
a training that goes on after a checkpoint has the rate it would have had.
"""

import math

from .schedule import checked, of_epochs, of_part, of_some, of_then, rate, schedule


@checked(lr=rate)
def constant(progress, lr):
    """lr.

    Parameters
    ----------
    lr : float
        The rate.

    Examples
    --------
    >>> from dtnn.optim import Progress
    >>> constant(0.1)(Progress(step=21, epoch=2.0))
    0.1
    """
    return lr


@checked(lr=rate, epochs=of_epochs, factor=rate)
def step(progress, lr, epochs=(30, 60, 80), factor=0.1):
    """lr factor^k, where k of the given `epochs` are done: (30, 60, 80) for 90 epochs of ImageNet (Goyal et al., 2017).

    Parameters
    ----------
    lr : float
        The rate to begin with.
    epochs : tuple of numbers
        When the rate falls: after these epochs.
    factor : float
        What it is multiplied by each time.

    Examples
    --------
    >>> from dtnn.optim import Progress
    >>> rate = step(1.0, epochs=(30, 60))
    >>> [round(rate(Progress(step=1, epoch=epoch)), 6) for epoch in (29.9, 30, 60)]
    [1.0, 0.1, 0.01]
    """
    return lr * factor ** sum(progress.epoch >= epoch for epoch in epochs)


@checked(lr=rate, n=of_some, factor=rate, least=rate)
def every_n_epochs(progress, lr, n=5, factor=0.1, least=0.0):
    """max(least, lr factor^floor(epoch / n)).

    Parameters
    ----------
    lr : float
        The rate to begin with.
    n : int
        Epochs from one fall of the rate to the next.
    factor : float
        What it is multiplied by each time.
    least : float
        It never falls below this.

    Examples
    --------
    >>> from dtnn.optim import Progress
    >>> rate = every_n_epochs(0.4, n=2, factor=0.5)
    >>> [rate(Progress(step=1, epoch=epoch)) for epoch in (1.9, 2, 4)]
    [0.4, 0.2, 0.1]
    """
    return max(least, lr * factor ** math.floor(progress.epoch / n))


@checked(lr=rate, end=rate)
def cosine(progress, lr, end=0.0):
    """end + (lr - end) (1 + cos(pi f)) / 2, f the fraction of the training that is done (Loshchilov and Hutter, 2017).

    Parameters
    ----------
    lr : float
        The rate to begin with.
    end : float
        The rate at the end of the training.

    Examples
    --------
    >>> from dtnn.optim import Progress
    >>> rate = cosine(0.2)
    >>> [round(rate(Progress(step=1, epoch=epoch, epochs=10)), 6) for epoch in (0, 5, 10)]
    [0.2, 0.1, 0.0]
    """
    return end + (lr - end) * (1 + math.cos(math.pi * progress.fraction)) / 2


@checked(lr=rate, power=rate, end=rate)
def poly(progress, lr, power=2.0, end=0.0):
    """end + (lr - end) (1 - f)^power, f the fraction of the training that is done (You et al., 2017, for LARS).

    Parameters
    ----------
    lr : float
        The rate to begin with.
    power : float
        How the rate falls: 1 along a line, 2 along a parabola, fast at first.
    end : float
        The rate at the end of the training.

    Examples
    --------
    >>> from dtnn.optim import Progress
    >>> rate = poly(0.4, power=2)
    >>> [rate(Progress(step=1, epoch=epoch, epochs=10)) for epoch in (0, 5, 10)]
    [0.4, 0.1, 0.0]
    """
    return end + (lr - end) * (1 - progress.fraction) ** power


@checked(lr=rate, rising=of_part, start=rate, end=rate)
def one_cycle(progress, lr, rising=0.3, start=0.04, end=4e-6):
    """From start lr up to lr in the part `rising` of the training, then down to end lr, along half cosines (Smith, 2018).

    Parameters
    ----------
    lr : float
        The largest rate.
    rising : float
        The part of the training in which the rate rises, in [0, 1).
    start : float
        The first rate, as a part of the largest.
    end : float
        The last rate, as a part of the largest.

    Examples
    --------
    >>> from dtnn.optim import Progress
    >>> rate = one_cycle(1.0, start=0.1, end=0.01)
    >>> [round(rate(Progress(step=1, epoch=epoch, epochs=10)), 6) for epoch in (0, 3, 10)]
    [0.1, 1.0, 0.01]
    """
    f = progress.fraction
    if f < rising:
        return _between(start * lr, lr, f / rising)
    return _between(lr, end * lr, (f - rising) / (1 - rising))


@checked(then=of_then, epochs=rate, start=rate)
def warm_up(progress, then, epochs=5, start=0.0):
    """`then` (a rate or a schedule), in the first `epochs` times start + (1 - start) e / epochs, which rises to 1.

    e is the epoch's fraction with the current step counted as done, so that even the first step moves (Goyal et al., 2017).

    Parameters
    ----------
    then : float or schedule
        What follows, and is risen to.
    epochs : float
        How long the rate rises, in epochs.
    start : float
        Which part of the rate to begin with, 0 to 1.

    Examples
    --------
    >>> from dtnn.optim import Progress
    >>> rate = warm_up(0.1, epochs=5)
    >>> [round(rate(Progress(step=1, epoch=epoch, steps_per_epoch=10)), 6) for epoch in (0, 2.4, 7)]
    [0.002, 0.05, 0.1]
    """
    rate = then(progress) if callable(then) else then
    done = progress.epoch + 1 / progress.steps_per_epoch
    return rate if done >= epochs else rate * (start + (1 - start) * done / epochs)


@schedule
def times(progress, then, factor):
    """factor times the schedule `then`."""
    return then(progress) * factor


def _between(first, last, f):
    return last + (first - last) * (1 + math.cos(math.pi * f)) / 2
