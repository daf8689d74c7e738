"""Losses with their gradients in one pass.  Computed in float64 inside, in the order as written: differences of large
numbers must stay what they are.  The loops run over a block of samples, whose exponentials are computed side by side.
"""

import numpy as np

from .cache import kernel
from .exponential import exp

BLOCK = 64


def room(classes):
    """Scratch of the kernels for so many classes: what they take as `e`."""
    return np.empty((classes + 2, BLOCK))


@kernel(exact=True)
def cross_entropy_of_labels(z, labels, weight, d, e):
    """Sum over n of log(sum_k exp z[k, n]) - z[labels[n], n]; d = (softmax - one hot) / weight.

    Returns (sum, -1), or (0, n) with the place of the first label that is no row of z.
    """
    K, N = z.shape
    total = 0.0
    for n in range(N):
        if labels[n] < 0 or labels[n] >= K:
            return 0.0, n
    for start in range(0, N, BLOCK):
        count = min(BLOCK, N - start)
        top, s = exponentials(z, start, count, e)
        for i in range(count):
            total += np.log(s[i]) - (np.float64(z[labels[start + i], start + i]) - top[i])
            e[labels[start + i], i] -= s[i]
            s[i] *= weight
        for k in range(K):
            for i in range(count):
                d[k, start + i] = e[k, i] / s[i]
    return total, -1


@kernel(exact=True)
def cross_entropy_of_shares(z, shares, weight, d, e):
    """The same for target shares (N, K), such as one-hot rows: - sum_k t[n, k] log softmax(z)[k, n].

    A row of zeros counts nothing and has no gradient.
    """
    K, N = z.shape
    total = 0.0
    for start in range(0, N, BLOCK):
        count = min(BLOCK, N - start)
        top, s = exponentials(z, start, count, e)
        for i in range(count):
            n, t = start + i, 0.0
            for k in range(K):
                t += shares[n, k]
            for k in range(K):
                if shares[n, k] != 0:
                    total += shares[n, k] * (np.log(s[i]) - (np.float64(z[k, n]) - top[i]))
                d[k, n] = (t * (e[k, i] / s[i]) - shares[n, k]) / weight
    return total


@kernel(exact=True, inlined=True)
def exponentials(z, start, count, e):
    """e[k, i] = exp(z[k, start + i] - the largest of them); returns the largest, and the sum, of each i."""
    K = len(z)
    top, s = e[K], e[K + 1]
    for i in range(count):
        top[i], s[i] = z[0, start + i], 0
    for k in range(1, K):
        for i in range(count):
            top[i] = max(top[i], np.float64(z[k, start + i]))
    for k in range(K):
        for i in range(count):
            e[k, i] = exp(np.float64(z[k, start + i]) - top[i])
            s[i] += e[k, i]
    return top, s
