"""First values of weights: functions (rng, shape) -> float64 array, with the right fans for (out, in) and (out, in, kh, kw)."""

import difflib
import math

import numpy as np


def fans(shape):
    """(inputs, outputs) that one number of the result, and one of the input, is connected with.

    Parameters
    ----------
    shape : tuple
        (out, in) or (out, in, kh, kw).

    Examples
    --------
    >>> fans((10, 84)), fans((16, 6, 5, 5))
    ((84, 10), (150, 400))
    """
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def he_normal(rng, shape):
    """N(0, 2 / fan_in): keeps the variance through a layer and its ReLU.  He et al., 2015.

    >>> weights = he_normal(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 2 / 100) < 0.001)
    True
    """
    return rng.standard_normal(shape) * np.sqrt(2 / fans(shape)[0])


def he_uniform(rng, shape):
    """U(-a, a), a = sqrt(6 / fan_in): the same variance.

    >>> weights = he_uniform(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 2 / 100) < 0.001)
    True
    """
    limit = np.sqrt(6 / fans(shape)[0])
    return rng.uniform(-limit, limit, shape)


def glorot_normal(rng, shape):
    """N(0, 2 / (fan_in + fan_out)): between forward and backward, without ReLU.  Glorot and Bengio, 2010.

    >>> weights = glorot_normal(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 2 / 300) < 0.001)
    True
    """
    return rng.standard_normal(shape) * np.sqrt(2 / sum(fans(shape)))


def glorot_uniform(rng, shape):
    """U(-a, a), a = sqrt(6 / (fan_in + fan_out)): the same variance.

    >>> weights = glorot_uniform(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 2 / 300) < 0.001)
    True
    """
    limit = np.sqrt(6 / sum(fans(shape)))
    return rng.uniform(-limit, limit, shape)


def lecun_normal(rng, shape):
    """N(0, 1 / fan_in): keeps the variance through a layer without ReLU.  LeCun, Bottou, Orr and Müller, 1998.

    >>> weights = lecun_normal(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 1 / 100) < 0.001)
    True
    """
    return rng.standard_normal(shape) * np.sqrt(1 / fans(shape)[0])


def lecun_uniform(rng, shape):
    """U(-a, a), a = sqrt(3 / fan_in): the same variance.

    >>> weights = lecun_uniform(np.random.default_rng(0), (200, 100))
    >>> bool(abs(weights.var() - 1 / 100) < 0.001)
    True
    """
    limit = np.sqrt(3 / fans(shape)[0])
    return rng.uniform(-limit, limit, shape)


def orthogonal(rng, shape):
    """Rows (or columns, if there are fewer) of length 1 at right angles.  Saxe, McClelland and Ganguli, 2014.

    Examples
    --------
    >>> w = orthogonal(np.random.default_rng(0), (3, 2, 2, 2)).reshape(3, 8)
    >>> bool(np.allclose(w @ w.T, np.eye(3)))
    True
    """
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diag(r))  # so that every rotation is as likely
    return (q if rows >= columns else q.T).reshape(shape)


def initialiser(init, layer):
    """The function for a name, or the function itself.

    Raises
    ------
    ValueError
        If no initialiser has that name; names the nearest one.

    Examples
    --------
    >>> initialiser("he_normal", "Linear") is he_normal
    True
    """
    if callable(init):
        return init
    kinds = [f"{name}_{spread}" for name in ("he", "glorot", "lecun") for spread in ("normal", "uniform")]
    names = (*kinds, "orthogonal", "zeros", "ones")
    if init not in names:
        near = difflib.get_close_matches(str(init), names, 1) or names
        raise ValueError(f"{layer}: there is no initialiser {init!r}; did you mean {' or '.join(map(repr, near))}?")
    return globals()[init]


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
