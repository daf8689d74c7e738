"""Layer normalisation of (D, P) arrays over D: the loops run over P; the sums of a block of columns stay in the cache."""

import numpy as np

from .cache import kernel

BLOCK = 256


@kernel
def layer_norm(x, weight, bias, eps, y, mean, inverse):
    """y[d, p] = weight[d] (x[d, p] - mean[p]) inverse[p] + bias[d]; mean and 1 / sqrt(var + eps) are handed back."""
    D, P = x.shape
    for start in range(0, P, BLOCK):
        n = min(BLOCK, P - start)
        m, q = mean[start : start + n], inverse[start : start + n]
        m[:] = 0
        for d in range(D):
            row = x[d, start : start + n]
            for i in range(n):
                m[i] += row[i]
        for i in range(n):
            m[i] /= x.dtype.type(D)
        q[:] = 0
        for d in range(D):
            row = x[d, start : start + n]
            for i in range(n):
                q[i] += (row[i] - m[i]) * (row[i] - m[i])
        for i in range(n):
            q[i] = x.dtype.type(1) / np.sqrt(q[i] / x.dtype.type(D) + eps)
        for d in range(D):
            row, out = x[d, start : start + n], y[d, start : start + n]
            for i in range(n):
                out[i] = weight[d] * (row[i] - m[i]) * q[i] + bias[d]


@kernel
def layer_norm_gradient(x, weight, mean, inverse, dy, dweight, dbias):
    """dx in place of dy; adds to dweight and dbias."""
    D, P = x.shape
    s, t = np.empty(BLOCK, x.dtype), np.empty(BLOCK, x.dtype)
    for start in range(0, P, BLOCK):
        n = min(BLOCK, P - start)
        m, r = mean[start : start + n], inverse[start : start + n]
        s[:n] = 0
        t[:n] = 0
        for d in range(D):
            row, delta = x[d, start : start + n], dy[d, start : start + n]
            w, b = dweight[d], dbias[d]
            for i in range(n):
                h = (row[i] - m[i]) * r[i]
                w += delta[i] * h
                b += delta[i]
                s[i] += weight[d] * delta[i]
                t[i] += weight[d] * delta[i] * h
            dweight[d], dbias[d] = w, b
        for d in range(D):
            row, delta = x[d, start : start + n], dy[d, start : start + n]
            for i in range(n):
                h = (row[i] - m[i]) * r[i]
                delta[i] = r[i] * (weight[d] * delta[i] - (s[i] + h * t[i]) / x.dtype.type(D))
