"""Losses with their gradients in one pass.  Computed in float64 inside, in the order as written: differences of large
numbers must stay what they are.  `e` is scratch, (K,).
"""

import numpy as np

from .cache import kernel


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
    for n in range(N):
        top = np.float64(z[0, n])
        for k in range(1, K):
            top = max(top, np.float64(z[k, n]))
        s = 0.0
        for k in range(K):
            e[k] = np.exp(np.float64(z[k, n]) - top)
            s += e[k]
        total += np.log(s) - (np.float64(z[labels[n], n]) - top)
        for k in range(K):
            d[k, n] = (e[k] / s - (1.0 if k == labels[n] else 0.0)) / weight
    return total, -1


@kernel(exact=True)
def cross_entropy_of_shares(z, shares, weight, d, e):
    """The same for target shares (N, K), such as one-hot rows: - sum_k t[n, k] log softmax(z)[k, n].

    A row of zeros counts nothing and has no gradient.
    """
    K, N = z.shape
    total = 0.0
    for n in range(N):
        top = np.float64(z[0, n])
        for k in range(1, K):
            top = max(top, np.float64(z[k, n]))
        s = t = 0.0
        for k in range(K):
            e[k] = np.exp(np.float64(z[k, n]) - top)
            s += e[k]
            t += shares[n, k]
        for k in range(K):
            if shares[n, k] != 0:
                total += shares[n, k] * (np.log(s) - (np.float64(z[k, n]) - top))
            d[k, n] = (t * (e[k] / s) - shares[n, k]) / weight
    return total
