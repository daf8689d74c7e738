"""`schedule`: from a function of the progress and some settings to a maker of schedules; and what settings may be."""

import functools
import inspect
import math

from ..allowed import flag, listed, number, shown
from ..nn.numbers import plain


class Schedule:
    """A function of the progress with its settings; shows itself as the call that made it."""

    def __init__(self, make, function, arguments):
        self.make, self.function, self.arguments = make, function, arguments

    def __call__(self, progress):
        return self.function(progress, *self.arguments.args, **self.arguments.kwargs)

    def __repr__(self):
        given = [repr(value) for value in self.arguments.args] + [
            f"{name}={value!r}" for name, value in self.arguments.kwargs.items()
        ]
        return f"{self.make.__name__}({', '.join(given)})"

    def __eq__(self, other):
        return isinstance(other, Schedule) and repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))

    def __reduce__(self):
        return functools.partial(self.make, *self.arguments.args, **self.arguments.kwargs), ()


def schedule(function):
    """From rate(progress, settings ...) to a maker of schedules, settings -> (progress -> rate); works for your own, too.

    Examples
    --------
    >>> from dtnn.optim import Progress
    >>> @schedule
    ... def halved_each_epoch(progress, lr):
    ...     return lr / 2 ** int(progress.epoch)
    >>> halved_each_epoch(0.4)(Progress(step=21, epoch=2.0))
    0.1
    """
    return checked()(function)


def checked(**checks):
    """`schedule`, with checks of the settings: functions of a setting's name and its value."""
    return functools.partial(_maker, checks=checks)


def _maker(function, checks):
    settings = inspect.signature(function)
    settings = settings.replace(parameters=list(settings.parameters.values())[1:])

    @functools.wraps(function)
    def make(*args, **kwargs):
        arguments = settings.bind(*args, **kwargs)
        for name in checks.keys() & arguments.arguments.keys():
            checks[name](f"{function.__name__}: {name}", arguments.arguments[name])
        arguments.arguments.update({name: plain(value) for name, value in arguments.arguments.items()})
        return Schedule(make, function, arguments)

    make.__signature__, make.makes_schedules = settings, True
    return make


def is_schedule(value):
    """Whether it is a function of the progress, and not what makes one: cosine(0.1), and not cosine."""
    return callable(value) and not getattr(value, "makes_schedules", False)


def rate(name, value):
    """A learning rate, or another number of at least 0."""
    return number(name, value, "a number of at least 0, such as 0.1", lambda value: 0 <= value < math.inf)


def of_part(name, value):
    """A part of the training, below 1."""
    number(name, value, "a part of the training, at least 0 and below 1, such as 0.3", lambda value: 0 <= value < 1)


def of_some(name, value):
    """A number above 0."""
    number(name, value, "a number above 0, such as 5", lambda value: 0 < value < math.inf)


def of_epochs(name, value):
    """A series of epochs."""
    for epoch in listed(name, value, "epochs, such as (30, 60, 80)"):
        rate(name, epoch)


def of_then(name, value):
    """A rate or a schedule, which follows."""
    if not is_schedule(value):
        number(name, value, "a rate of at least 0, or a schedule such as cosine(0.1)", lambda value: 0 <= value < math.inf)


def of_direction(name, value):
    """True or False; None leaves it to the metric's name."""
    if value is not None:
        flag(name, value)


def of_text(name, value):
    """The name of a metric."""
    if not isinstance(value, str):
        raise TypeError(f'{name}={shown(value)}: give the name of a metric, such as "val_loss"')
