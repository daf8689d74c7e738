"""What a panel is begun with, checked before any widget is made: each with a word on what it may be."""

import difflib

from .. import data as sets
from .. import known, zoo
from ..model import Model


def model(value):
    """A `Model`, or None.

    >>> model("lenet")
    Traceback (most recent call last):
        ...
    TypeError: model='lenet' is no Model; did you mean dtnn.zoo.lenet5()?
    """
    if value is None or isinstance(value, Model):
        return value
    near = difflib.get_close_matches(value.lower(), zoo.__all__, 1, 0.4) if isinstance(value, str) else []
    if getattr(value, "__name__", None) in zoo.__all__ and callable(value):
        near = [value.__name__]  # zoo.lenet5 without the call
    hint = f"did you mean dtnn.zoo.{near[0]}()?" if near else "give one, such as dtnn.zoo.lenet5(), or leave it out"
    hint = "did you mean data=...?" if isinstance(value, sets.Dataset) else hint
    raise TypeError(f"model={_shown(value)} is no Model; {hint}")


def dataset(value):
    """A `Dataset`, or None; a pair of arrays becomes one."""
    if value is None or isinstance(value, sets.Dataset):
        return value
    if isinstance(value, tuple | list) and len(value) in (2, 4) and all(hasattr(part, "shape") for part in value):
        return sets.Dataset(*value, name="yours")
    near = difflib.get_close_matches(value.lower(), sets.__all__, 1, 0.5) if isinstance(value, str) else []
    hint = f"did you mean dtnn.data.{near[0]}()?" if near else "give one, such as dtnn.data.mnist5k(), or a pair (x, y) of arrays"
    raise TypeError(f"data={_shown(value)} is no Dataset; {hint}")


def cluster(value):
    """A cluster that can be started and looked at, or None."""
    if value is None or all(hasattr(value, verb) for verb in ("run", "ranks", "restart", "describe")):
        return value
    hint = "give one, such as dtnn.Cluster(2), or leave it out: one is started when it is needed"
    hint = f"did you mean dtnn.Cluster({value})?" if type(value) is int and value > 0 else hint
    raise TypeError(f"cluster={_shown(value)} is no Cluster; {hint}")


def whole(name, value, low, high):
    """A whole number that the panel can show."""
    return known.whole(name, value, low, high)


def _shown(value):
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"
