"""Checks of the numbers that constructors get: they fail where the mistake is made, with the value and the remedy."""

from numbers import Integral, Real

import numpy as np

MOST = 1 << 31  # more than any memory has room for


def whole(value, name, layer, least=1):
    """An integer of at least `least`.

    Raises
    ------
    TypeError, ValueError
        Naming the layer, the argument and its value.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{layer}: {name} is {value!r}; it must be an integer of at least {least}")
    if not least <= value < MOST:
        wanted = f"at least {least}" if value < least else f"below {MOST}"
        raise ValueError(f"{layer}: {name} is {value}; it must be {wanted}")
    return int(value)


def plain(value):
    """The same as Python's own number, or tuple of them: as text NumPy's are no literals, which a file could hold.

    Examples
    --------
    >>> plain(np.float64(0.5)), plain((np.int64(3), 5)), plain("same")
    (0.5, (3, 5), 'same')
    """
    if isinstance(value, np.generic):
        return value.item()
    return type(value)(map(plain, value)) if type(value) in (tuple, list) else value


def pair(value, name, layer, least=1):
    """(vertical, horizontal) from an integer or two.

    Examples
    --------
    >>> pair(3, "kernel_size", "Conv2d"), pair((3, 5), "kernel_size", "Conv2d")
    ((3, 3), (3, 5))
    """
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise ValueError(f"{layer}: {name} is {value!r}; it must be one integer, or two: (vertical, horizontal)")
        return whole(value[0], name, layer, least), whole(value[1], name, layer, least)
    return (whole(value, name, layer, least),) * 2


def margins(padding, size, stride, dilation=(1, 1)):
    """((above, below), (left, right)) of `padding`.

    Examples
    --------
    >>> margins("same", (3, 4), (1, 1))
    ((1, 1), (1, 2))
    """
    if isinstance(padding, str):
        if padding != "same":
            raise ValueError(f"Conv2d: padding is {padding!r}; it must be an integer, two of them, or 'same'")
        if stride != (1, 1):
            raise ValueError(
                f"Conv2d: padding='same' goes with stride 1 only, but stride is {stride}; give the padding as numbers"
            )
        return tuple(((k - 1) * d // 2, -(-(k - 1) * d // 2)) for k, d in zip(size, dilation))
    return tuple((p, p) for p in pair(padding, "padding", "Conv2d", least=0))


def share(value, name, layer):
    """A number in [0, 1)."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{layer}: {name} is {value!r}; it must be a number in [0, 1)")
    if not 0 <= value < 1:
        raise ValueError(f"{layer}: {name} is {value}; it must be in [0, 1), such as 0.5")
    return plain(value)
