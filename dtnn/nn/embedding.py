"""`Embedding`, `Positions`: from tokens to vectors, and where in the sequence they stand."""

import numpy as np

from ..kernels.embedding import add_rows, look_up
from .build_checks import check_samples, keeps_weights
from .layer import Layer, Parameter
from .numbers import whole
from .passes import Pass, checked, joined


class Embedding(Layer):
    """y (D, T, N) has for each token of x (T, N) its row of W (vocabulary, D).

    Parameters
    ----------
    vocabulary : int
        Tokens are 0 .. vocabulary - 1.
    features : int
        D

    Raises
    ------
    ValueError
        If a token is not among them.

    Notes
    -----
    vocabulary x D parameters, first N(0, 1 / D).  A pass over y forward, which reads D T N numbers, and one over dy backward; all
    of W is sent and updated in a step, however few tokens occur in it.  Bengio, Ducharme, Vincent and Jauvin, "A neural
    probabilistic language model", 2003.

    Examples
    --------
    >>> layer = Embedding(100, 8)
    >>> layer.build((5,), np.random.default_rng(0))
    (8, 5)
    >>> layer(np.zeros((5, 2), np.int32)).shape
    (8, 5, 2)
    """

    def __init__(self, vocabulary, features):
        self.vocabulary, self.features = whole(vocabulary, "vocabulary", "Embedding"), whole(features, "features", "Embedding")
        self.weight = None

    def build(self, shape, rng):
        """(T,) -> (D, T)"""
        check_samples(self, shape, "(T,)", "it takes tokens, and must be the first layer")
        if not keeps_weights(self, (self.vocabulary, self.features)):
            self.weight = Parameter(rng.standard_normal((self.vocabulary, self.features)) / np.sqrt(self.features))
        return (self.features, shape[0])

    def forward(self, x, step=None):
        """y, backward; there is no gradient of tokens."""
        step = step or Pass()
        tokens = self._tokens(x)
        y = step.empty((self.features, *tokens.shape), self.weight.value.dtype)
        look_up(self.weight.value, tokens, y)

        def backward(dy, into=None):
            if self.weight.learns:
                add_rows(checked(dy, y.shape[:-1], self, step, y.dtype), tokens, self.weight.grad)

        return y, backward

    def _tokens(self, x):
        x = np.ascontiguousarray(x)
        if x.dtype.kind not in "iu":
            raise TypeError(f"{self!r} takes integer tokens, but got {x.dtype}; give the model int32 or int64 data")
        if x.size and not 0 <= x.min() <= x.max() < self.vocabulary:
            bad = x.min() if x.min() < 0 else x.max()
            raise ValueError(
                f"{self!r}: token {bad} is not in the vocabulary of {self.vocabulary}; tokens must be 0 .. {self.vocabulary - 1}"
            )
        return x.astype(np.int32, copy=False)


class Positions(Layer):
    """y[d, t, n] = x[d, t, n] + W[d, t]: what a place in the sequence means is learnt; x and y (D, T, N), W (D, T).

    Raises
    ------
    ValueError
        When built, if samples are no sequences (D, T).

    Notes
    -----
    D T parameters, first N(0, 0.02^2), without weight decay.  A pass over x forward, and one over dy backward.  Gehring et al.,
    "Convolutional sequence to sequence learning", 2017.

    Examples
    --------
    >>> layer = Positions()
    >>> layer.build((8, 5), np.random.default_rng(0))
    (8, 5)
    >>> layer(np.zeros((8, 5, 2), np.float32)).shape
    (8, 5, 2)
    """

    def __init__(self):
        self.weight = None

    def build(self, shape, rng):
        """(D, T), unchanged"""
        check_samples(self, shape, "(D, T)", "put Embedding(vocabulary, D) before it")
        if not keeps_weights(self, tuple(shape)):
            self.weight = Parameter(0.02 * rng.standard_normal(shape), decay=False)
        return tuple(shape)

    def forward(self, x, step=None):
        """y, backward"""
        step = step or Pass()
        x = checked(x, self.weight.value.shape, self, step, self.weight.value.dtype)
        y = np.add(x, self.weight.value[..., None], out=step.empty(x.shape, x.dtype))

        def backward(dy, into=None):
            dy = checked(dy, y.shape[:-1], self, step, y.dtype)
            if self.weight.learns:
                self.weight.grad[...] += dy.sum(-1)
            return joined(dy, into)

        return y, backward
