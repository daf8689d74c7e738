"""`samples`, `plain`: whatever the user hands over, as `Samples`."""

import numpy as np

from ..allowed import shown
from .inputs import is_finite
from .samples import Samples


def samples(data, y=None, part="train", name="data"):
    """Whatever `fit` takes, as `Samples`: a Dataset (its `part`), Samples, a pair (x, y), or x and y; `name` is for errors.

    Raises
    ------
    TypeError
        It is none of these, or the targets are missing.
    ValueError
        As `Samples` says; or the data set has no such part.

    Examples
    --------
    >>> import numpy as np
    >>> samples((np.zeros((2, 3), np.float32), [0, 1]))
    Samples(2 x (3,) float32, labels 0..1)
    """
    if y is not None and (isinstance(data, Samples) or hasattr(data, "x_train")):
        raise TypeError(f"{name} is a {type(data).__name__}, which has its targets: give it alone, or x and y")
    if y is not None:
        return Samples(data, y)
    if isinstance(data, Samples):
        return _with_targets(data, name)
    if hasattr(data, "x_train"):
        return _part(data, part)
    if isinstance(data, tuple | list) and len(data) == 2:
        return Samples(*data, part="" if name == "data" else "_val")
    called = f" (call it, {data.__name__}())" if callable(data) and hasattr(data, "__name__") else ""
    what = "" if isinstance(data, np.ndarray) else f" ({shown(data)})"
    raise TypeError(
        f"{name} is a {type(data).__name__}{what} without targets{called}: "
        "pass a Dataset (dtnn.data.mnist5k()), a pair (x, y), or x and y one after the other"
    )


def _with_targets(data, name):
    if data.y is None:
        raise ValueError(f"{name}={data!r}: these samples have no targets; make them with some, Samples(x, y)")
    return data


def plain(x, input_shape):
    """Inputs that need no word, as `Samples`; None where something is to be converted or refused, which `Samples` does and says.

    For predictions of one sample after the other, where all that `Samples` looks at would take as long as the network.

    >>> import numpy as np
    >>> plain(np.zeros((1, 3), np.float32), (3,))
    Samples(1 x (3,) float32, no targets)
    >>> plain([[0.0, 1.0, 2.0]], (3,)) is None
    True
    """
    if type(x) is not np.ndarray or x.shape[1:] != input_shape or not x.size or not x.flags.c_contiguous:
        return None
    scale = 1 / 255 if x.dtype == np.uint8 else 1.0 if x.dtype == np.float32 and is_finite(x) else None
    if scale is None:
        return None
    found = object.__new__(Samples)
    vars(found).update(x=x, y=None, scale=scale, part="", augment=())
    return found


def _part(data, part):
    found = getattr(data, part)
    if found is None:
        raise ValueError(f"{data.name} has no {part} part: make it with Dataset(..., x_{part}=, y_{part}=), or pass (x, y)")
    return found
