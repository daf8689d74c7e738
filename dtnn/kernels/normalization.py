"""Batch normalisation: a channel is one contiguous stretch; it is read for its sums, and again, from the cache, to normalise.

Arrays are (C, P): C channels of P = H W N numbers.  Any float type; `zero` is 0 of that type.
"""

import numpy as np

from .cache import kernel


@kernel(inlined=True)
def moments(v, zero):
    """Mean and variance of a stretch; the sums are taken of the distances from its first number, so that nothing cancels."""
    pivot = v[0]
    s = q = zero
    for i in range(v.size):
        d = v[i] - pivot
        s += d
        q += d * d
    m = s / v.size
    return m + pivot, max(q / v.size - m * m, zero)


@kernel
def normalize_channel(v, a, b, e, adds, relu, o, zero):
    """o = a v + b (+ e) (then ReLU)"""
    if adds:
        if relu:
            for i in range(v.size):
                u = a * v[i] + b + e[i]
                o[i] = zero if u <= 0 else u
        else:
            for i in range(v.size):
                o[i] = a * v[i] + b + e[i]
    elif relu:
        for i in range(v.size):
            u = a * v[i] + b
            o[i] = zero if u <= 0 else u
    else:
        for i in range(v.size):
            o[i] = a * v[i] + b


@kernel
def batch_norm(part, parts, x, gamma, beta, eps, added, adds, relu, z, mean, inverse, variance, zero):
    """z = gamma (x - mean) / sqrt(var + eps) + beta (+ added) (then ReLU); mean, 1 / sqrt(var + eps) and var are handed back."""
    for c in range(x.shape[0] * part // parts, x.shape[0] * (part + 1) // parts):
        mean[c], variance[c] = moments(x[c], zero)
        inverse[c] = 1 / np.sqrt(variance[c] + eps)
        a = gamma[c] * inverse[c]
        normalize_channel(x[c], a, beta[c] - a * mean[c], added[c], adds, relu, z[c], zero)


@kernel
def normalize(part, parts, x, gamma, beta, mean, inverse, added, adds, relu, z, zero):
    """The same with statistics that are known: running ones, or those of all ranks."""
    for c in range(x.shape[0] * part // parts, x.shape[0] * (part + 1) // parts):
        a = gamma[c] * inverse[c]
        normalize_channel(x[c], a, beta[c] - a * mean[c], added[c], adds, relu, z[c], zero)


@kernel
def channel_sums(part, parts, x, mean, sums, squares):
    """sums[c] = sum of x - mean, squares[c] = sum of (x - mean)^2, in float64."""
    for c in range(x.shape[0] * part // parts, x.shape[0] * (part + 1) // parts):
        s = q = 0.0
        for i in range(x.shape[1]):
            d = np.float64(x[c, i]) - mean[c]
            s += d
            q += d * d
        sums[c], squares[c] = s, q


@kernel(inlined=True)
def masked_sums(v, a, b, m, z, masked, by_z, d, zero):
    """Sums of d and of d (v - m), where the ReLU that followed let it pass.

    masked: it did follow; by_z: its output z decides, and d is masked in place; else a v + b decides again.
    """
    s = q = zero
    if by_z:
        for i in range(v.size):
            u = d[i] if z[i] > 0 else zero
            d[i] = u
            s += u
            q += u * (v[i] - m)
    elif masked:
        for i in range(v.size):
            u = d[i] if a * v[i] + b > 0 else zero
            s += u
            q += u * (v[i] - m)
    else:
        for i in range(v.size):
            s += d[i]
            q += d[i] * (v[i] - m)
    return s, q


@kernel
def spread_delta(v, a, b, k, l, masked, in_place, d, o, zero):
    """o = a d + k v + l (d masked as above).  In place, one name must be used: two make LLVM fear an overlap, and slow."""
    if masked:
        for i in range(v.size):
            d[i] = a * (d[i] if a * v[i] + b > 0 else zero) + k * v[i] + l
    elif in_place:
        for i in range(v.size):
            d[i] = a * d[i] + k * v[i] + l
    else:
        for i in range(v.size):
            o[i] = a * d[i] + k * v[i] + l


@kernel
def batch_norm_gradient(part, parts, x, gamma, beta, mean, inverse, z, masked, by_z, apart, d, o, dgamma, dbeta, zero):
    """dx from dz, in place of d, or into o if it is to be apart; adds to dgamma and dbeta."""
    P = x.shape[1]
    for c in range(x.shape[0] * part // parts, x.shape[0] * (part + 1) // parts):
        m, r = mean[c], inverse[c]
        a = gamma[c] * r
        b = beta[c] - a * m
        s, q = masked_sums(x[c], a, b, m, z[c], masked, by_z, d[c], zero)
        dbeta[c] += s
        dgamma[c] += q * r
        k = -a * r * r * q / P
        spread_delta(x[c], a, b, k, -a * s / P - k * m, masked and not by_z, not apart, d[c], o[c], zero)


@kernel
def gradient_sums(part, parts, x, gamma, beta, mean, inverse, z, masked, by_z, d, sums, products, zero):
    """The sums of `batch_norm_gradient` alone, for statistics of all ranks."""
    for c in range(x.shape[0] * part // parts, x.shape[0] * (part + 1) // parts):
        a = gamma[c] * inverse[c]
        sums[c], products[c] = masked_sums(x[c], a, beta[c] - a * mean[c], mean[c], z[c], masked, by_z, d[c], zero)


@kernel
def gradient_from_sums(part, parts, x, gamma, beta, mean, inverse, sums, products, count, masked, by_z, apart, d, o, zero):
    """dx from the sums over all ranks, of `count` numbers a channel; see `batch_norm_gradient`."""
    for c in range(x.shape[0] * part // parts, x.shape[0] * (part + 1) // parts):
        m, r = mean[c], inverse[c]
        a = gamma[c] * r
        k = -a * r * r * products[c] / count
        spread_delta(x[c], a, beta[c] - a * m, k, -a * sums[c] / count - k * m, masked and not by_z, not apart, d[c], o[c], zero)
