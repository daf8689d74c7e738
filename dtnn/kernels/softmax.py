"""Softmax over the first axis of (K, P) arrays: the loops run over P, which the batch is a part of.  Any float type."""

import numpy as np

from .cache import kernel
from .exponential import exp

BLOCK = 512  # columns at once: their sums stay in the first-level cache


@kernel(exact=True)
def softmax(x, y, logarithmic):
    """y[k, p] = exp x[k, p] / sum over k (or its logarithm); the largest is subtracted first.  x may be y."""
    K, P = x.shape
    top, total = np.empty(BLOCK, x.dtype), np.empty(BLOCK, x.dtype)
    for start in range(0, P, BLOCK):
        n = min(BLOCK, P - start)
        top[:n] = x[0, start : start + n]
        for k in range(1, K):
            row = x[k, start : start + n]
            for i in range(n):
                top[i] = top[i] if top[i] >= row[i] else row[i]  # a NaN in the row stays
        total[:n] = 0
        for k in range(K):
            row, out = x[k, start : start + n], y[k, start : start + n]
            for i in range(n):
                e = exp(row[i] - top[i])
                total[i] += e
                out[i] = row[i] - top[i] if logarithmic else e
        for i in range(n):
            total[i] = np.log(total[i]) if logarithmic else total[i]
        for k in range(K):
            out = y[k, start : start + n]
            for i in range(n):
                out[i] = out[i] - total[i] if logarithmic else out[i] / total[i]


@kernel(exact=True)
def softmax_gradient(y, dy, logarithmic):
    """dx in place of dy: y (dy - sum over k of y dy), or dy - exp(y) sum over k of dy."""
    K, P = y.shape
    total = np.empty(BLOCK, y.dtype)
    for start in range(0, P, BLOCK):
        n = min(BLOCK, P - start)
        total[:n] = 0
        for k in range(K):
            row, d = y[k, start : start + n], dy[k, start : start + n]
            for i in range(n):
                total[i] += d[i] if logarithmic else row[i] * d[i]
        for k in range(K):
            row, d = y[k, start : start + n], dy[k, start : start + n]
            for i in range(n):
                d[i] = d[i] - exp(row[i]) * total[i] if logarithmic else row[i] * (d[i] - total[i])
