"""`MultiHeadAttention`, `TransformerEncoderBlock`: each token looks at the others."""

import numpy as np

from ..allowed import flag
from ..kernels.batched import batched_product
from ..kernels.softmax import softmax, softmax_gradient
from .build_checks import check_samples
from .combine import Residual
from .dropout import Dropout
from .layer import Layer
from .layer_norm import LayerNorm
from .linear import Linear
from .numbers import plain, whole
from .passes import Pass
from .rectifiers import GELU
from .sequential import Sequential


class MultiHeadAttention(Layer):
    """y = W_o [heads] + b_o; a head is V softmax(K^T Q / sqrt(d)), for Q, K, V = three products of x (D, T, N), d = D / heads.

    y (D, T, N)

    Parameters
    ----------
    heads : int
        Must divide D.
    causal : bool
        A token sees itself and those before it only.

    Raises
    ------
    ValueError
        When built, if the heads don't divide D.

    Notes
    -----
    4 D (D + 1) parameters; 2 N T D (4 D + 2 T) floating-point operations forward, twice as many backward; keeps heads x T x T
    numbers a sample.  Vaswani et al., "Attention is all you need", 2017.

    Examples
    --------
    >>> layer = MultiHeadAttention(4)
    >>> layer.build((16, 5), np.random.default_rng(0))
    (16, 5)
    >>> layer(np.ones((16, 5, 3), np.float32)).shape
    (16, 5, 3)
    """

    def __init__(self, heads, causal=False):
        self.heads, self.causal = whole(heads, "heads", "MultiHeadAttention"), flag("MultiHeadAttention: causal", causal)
        self.project, self.join = None, None

    def build(self, shape, rng):
        """(D, T), unchanged"""
        check_samples(self, shape, "(D, T)", "put Embedding(vocabulary, D) before it")
        if shape[0] % self.heads:
            raise ValueError(
                f"{self!r}: heads {self.heads} must divide the {shape[0]} features; use another number of heads or features"
            )
        if self.project is None:
            self.project = Linear(3 * shape[0], init="glorot_uniform")
            self.join = Linear(shape[0], init="glorot_uniform")
        self.project.build(shape, rng)
        self.join.build(shape, rng)
        return tuple(shape)

    def forward(self, x, step=None):
        """y, backward"""
        step = step or Pass()
        (D, T, N), heads = x.shape, self.heads
        size = D // heads
        qkv, project_backward = self.project.forward(x, step)
        q, k, v = qkv.reshape(3, heads, size, T, N)
        p, mixed = step.empty((heads, T, T, N), qkv.dtype), step.empty((heads, size, T, N), qkv.dtype)
        for h in range(heads):
            batched_product(k[h], q[h], p[h], turn_a=True, scale=size**-0.5)  # p[key, query]
            if self.causal:
                p[h][np.tril_indices(T, -1)] = -np.inf
            softmax(p[h].reshape(T, -1), p[h].reshape(T, -1), False)
            batched_product(v[h], p[h], mixed[h])
        y, join_backward = self.join.forward(mixed.reshape(D, T, N), step)

        def backward(dy, into=None):
            dmixed = join_backward(dy).reshape(mixed.shape)
            dqkv, dp = step.empty(qkv.shape, qkv.dtype), step.empty((T, T, N), qkv.dtype)
            dq, dk, dv = dqkv.reshape(3, heads, size, T, N)
            for h in range(heads):
                batched_product(dmixed[h], p[h], dv[h], turn_b=True)
                batched_product(v[h], dmixed[h], dp, turn_a=True)
                softmax_gradient(p[h].reshape(T, -1), dp.reshape(T, -1), False)
                batched_product(k[h], dp, dq[h], scale=size**-0.5)
                batched_product(q[h], dp, dk[h], turn_b=True, scale=size**-0.5)
            return project_backward(dqkv) if into is None else project_backward(dqkv, into=into)

        return y, backward


class TransformerEncoderBlock(Layer):
    """x + Attention(LayerNorm(x)), then x + Linear(GELU(Linear(LayerNorm(x)))): the pre-norm form.

    y and x (D, T, N)

    Parameters
    ----------
    heads : int
        Must divide D.
    hidden : int, optional
        Features between the two dense layers; None: 4 D.
    dropout : float
        Share that is dropped behind each of the two.
    causal : bool
        A token sees itself and those before it only.

    Notes
    -----
    4 D (D + 1) parameters of the attention, 2 D hidden + hidden + D of the dense layers, 4 D of the norms;
    2 N T (D (4 D + 2 T) + 2 D hidden) floating-point operations forward, twice as many backward.  Xiong et al., "On layer
    normalization in the transformer architecture", 2020.

    Examples
    --------
    >>> block = TransformerEncoderBlock(2)
    >>> block.build((8, 5), np.random.default_rng(0))
    (8, 5)
    """

    def __init__(self, heads, hidden=None, dropout=0.0, causal=False):
        if hidden is not None:
            whole(hidden, "hidden", "TransformerEncoderBlock")
        self.heads, self.hidden, self.dropout, self.causal = plain(heads), plain(hidden), plain(dropout), causal
        self.attention = Residual(Sequential(LayerNorm(), MultiHeadAttention(heads, causal), Dropout(dropout)))
        self.dense = None

    def build(self, shape, rng):
        """(D, T), unchanged"""
        hidden = 4 * shape[0] if self.hidden is None else self.hidden
        if self.dense is None:
            layers = LayerNorm(), Linear(hidden), GELU(), Linear(shape[0], init="glorot_uniform"), Dropout(self.dropout)
            self.dense = Residual(Sequential(*layers))
        return self.dense.build(self.attention.build(shape, rng), rng)

    def forward(self, x, step=None):
        """y, backward"""
        step = step or Pass()
        x, attention_backward = self.attention.forward(x, step)
        y, dense_backward = self.dense.forward(x, step)

        def backward(dy, into=None):
            dx = dense_backward(dy)
            return attention_backward(dx) if into is None else attention_backward(dx, into=into)

        return y, backward
