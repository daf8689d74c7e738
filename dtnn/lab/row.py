"""One layer of a network, looked at without making its weights."""

from dataclasses import dataclass

import numpy as np

from ..nn.one_layer import build_layer
from ..nn.tree import named_parameters
from .flops import flops

MOST = 30_000_000  # numbers in one array of weights; more would be a slip of the finger, and fill the memory


@dataclass(frozen=True)
class Row:
    """One layer as it stands in the network: what it is, what it makes of its input, what it costs, what is wrong with it.

    Parameters
    ----------
    name : str
        As in `Model.summary`; "" where it could not be made.
    call : str
        The Python that makes it.
    shape : tuple or None
        Of one sample behind it; None from the first misfit on.
    parameters, bytes : int
        Numbers that are trained, and bytes of their gradient, which are sent in each step.
    flops : int or None
        Of the forward of one sample.
    error : str
        What is wrong, in the words of the exception that `Model` would raise.
    """

    name: str
    call: str
    shape: tuple | None = None
    parameters: int = 0
    flops: int | None = None
    bytes: int = 0
    error: str = ""


class _Careful:
    """Draws no weights, since nobody will use them, and refuses to make arrays that would fill the memory."""

    def __init__(self):
        self._rng = np.random.default_rng(0)

    def __getattr__(self, name):
        return getattr(self._rng, name)

    def standard_normal(self, size=None, *_, **__):
        return _room(size)

    def uniform(self, low=0.0, high=1.0, size=None):
        return _room(size)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return _room(size)


def _room(size):
    numbers = int(np.prod(size, dtype=object)) if size is not None else 1
    if numbers > MOST:
        raise ValueError(f"its weights would be {numbers:,} numbers, and the studio builds up to {MOST:,}; make it smaller")
    return np.zeros(() if size is None else size)


def look(read, call, shape, own):
    """The row of one layer behind that shape; `own` is there so that a class that was defined anew is looked at anew."""
    try:
        layer = read(call)
        output = tuple(build_layer(layer, shape, _Careful()))
        values = [parameter.value for _, parameter, _ in named_parameters(layer)]
        return Row("", call, output, sum(v.size for v in values), flops(layer, shape, output), sum(v.nbytes for v in values))
    except (ValueError, TypeError) as error:
        return Row("", call, error=str(error))
    except Exception as error:  # a layer of the user's own may raise anything; here it is shown beside it
        return Row("", call, error=f"{type(error).__name__}: {error}")
