"""First values of weights: functions (rng, shape) -> float64 array, with the right fans for (out, in) and (out, in, kh, kw).

Those that depend on the fans take `groups`, too, of a convolution; one of your own may, and is told it if it does.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..allowed import number
from .numbers import plain


def fans(shape, groups=1):
    """(inputs, outputs) that one number of the result, and one of the input, is connected with.

    Parameters
    ----------
    shape : tuple
        (out, in) or (out, in / groups, kh, kw).
    groups : int
        Of a convolution: a number of the input is seen by its group of filters alone.

    Raises
    ------
    ValueError
        If that is no shape of a weight, but of a bias.

    Examples
    --------
    >>> fans((10, 84)), fans((16, 6, 5, 5)), fans((64, 1, 3, 3), groups=64)
    ((84, 10), (150, 400), (9, 9))
    """
    if len(shape) < 2:
        raise ValueError(f"an array of shape {shape}, such as a bias, has no fans; give it zeros, ones or Constant(0.1)")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] // groups * field


def he_normal(rng, shape, groups=1):
    """N(0, 2 / fan_in): keeps the variance through a layer and its ReLU.  He et al., 2015.

    >>> weights = he_normal(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 2 / 100) < 0.001)
    True
    """
    return rng.standard_normal(shape) * np.sqrt(2 / fans(shape, groups)[0])


def he_uniform(rng, shape, groups=1):
    """U(-a, a), a = sqrt(6 / fan_in): the same variance.  He et al., 2015.

    >>> weights = he_uniform(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 2 / 100) < 0.001)
    True
    """
    limit = np.sqrt(6 / fans(shape, groups)[0])
    return rng.uniform(-limit, limit, shape)


def glorot_normal(rng, shape, groups=1):
    """N(0, 2 / (fan_in + fan_out)): between forward and backward, without ReLU.  Glorot and Bengio, 2010.

    >>> weights = glorot_normal(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 2 / 300) < 0.001)
    True
    """
    return rng.standard_normal(shape) * np.sqrt(2 / sum(fans(shape, groups)))


def glorot_uniform(rng, shape, groups=1):
    """U(-a, a), a = sqrt(6 / (fan_in + fan_out)): the same variance.  Glorot and Bengio, 2010.

    >>> weights = glorot_uniform(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 2 / 300) < 0.001)
    True
    """
    limit = np.sqrt(6 / sum(fans(shape, groups)))
    return rng.uniform(-limit, limit, shape)


def lecun_normal(rng, shape, groups=1):
    """N(0, 1 / fan_in): keeps the variance through a layer without ReLU.  LeCun, Bottou, Orr and Müller, 1998.

    >>> weights = lecun_normal(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 1 / 100) < 0.001)
    True
    """
    return rng.standard_normal(shape) * np.sqrt(1 / fans(shape, groups)[0])


def lecun_uniform(rng, shape, groups=1):
    """U(-a, a), a = sqrt(3 / fan_in): the same variance.  LeCun, Bottou, Orr and Müller, 1998.

    >>> weights = lecun_uniform(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 1 / 100) < 0.001)
    True
    """
    limit = np.sqrt(3 / fans(shape, groups)[0])
    return rng.uniform(-limit, limit, shape)


def orthogonal(rng, shape, groups=1):
    """Rows (or columns, if there are fewer) of length 1 at right angles, in each group.  Saxe, McClelland and Ganguli, 2014.

    Examples
    --------
    >>> w = orthogonal(np.random.default_rng(0), (3, 2, 2, 2)).reshape(3, 8)
    >>> bool(np.allclose(w @ w.T, np.eye(3)))
    True
    """
    if groups > 1:
        return np.concatenate([orthogonal(rng, (shape[0] // groups, *shape[1:])) for _ in range(groups)])
    fans(shape)
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diag(r))  # so that every rotation is as likely
    return (q if rows >= columns else q.T).reshape(shape)


@dataclass(frozen=True)
class Constant:
    """The same number everywhere.

    Parameters
    ----------
    value : float

    Raises
    ------
    ValueError, TypeError
        If it is no finite number.

    Examples
    --------
    >>> Constant(0.5)(None, (1, 2))
    array([[0.5, 0.5]])
    >>> from dtnn.nn import Linear
    >>> Linear(1, bias_init=Constant(-4.6))
    Linear(1, bias_init=Constant(-4.6))
    """

    value: float

    def __post_init__(self):
        number("Constant: value", self.value, "a finite number, such as 0.1")
        object.__setattr__(self, "value", plain(self.value))

    def __call__(self, rng, shape):
        """An array of that shape"""
        return np.full(shape, float(self.value))

    def __repr__(self):
        return f"Constant({self.value!r})"


def zeros(rng, shape):
    """0

    >>> zeros(np.random.default_rng(0), (1, 2))
    array([[0., 0.]])
    """
    return np.zeros(shape)


def ones(rng, shape):
    """1

    >>> ones(np.random.default_rng(0), (1, 2))
    array([[1., 1.]])
    """
    return np.ones(shape)
