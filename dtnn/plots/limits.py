"""Round limits of an axis, which change rarely, and few ticks on it."""

import math

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

DECADE = 10.0  # what changes by more than this factor is drawn on a logarithmic axis


def apart(low, high, otherwise):
    """Limits that are not the same, as those of a constant would be."""
    return low, high if high > low else otherwise


def finite(values):
    values = np.asarray(values, dtype=float)
    return values[np.isfinite(values)]


def unit(size):
    """A tenth to a fourth of the size, as a round number."""
    power = 10 ** math.floor(math.log10(size or 1.0))
    return power / 2 if size / power >= 2 else power / 5


def decade_part(value, towards):
    """The next 1, 2 or 5 times a power of ten below or above."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = [step * power for step in (1, 2, 5, 10)]
    if towards is math.floor:
        return max(step for step in steps if step <= value * (1 + 1e-9))
    return min(step for step in steps if step >= value * (1 - 1e-9))


def rounded_up(count):
    return decade_part(float(count), math.ceil)


def short(value):
    """A tick's number in few letters: there is room for four, also where a training diverges.

    >>> short(0.5), short(0.02), short(0.0001), short(1.0), short(5000.0), short(10000.0), short(1e21)
    ('0.5', '0.02', '1e-4', '1', '5000', '1e4', '1e21')
    """
    return f"{value:g}" if 0.01 <= value < 9999 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def few_ticks(ax):
    """A logarithmic axis whose ticks are read at a glance: 1, 2, 5, 10 ..."""
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 1000 else (1,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    ax.yaxis.set_minor_formatter(NullFormatter())
