"""Optimiser updates: one fused pass over the flat vectors, which also leaves the gradient zero for the next step.

The pass is bound by memory: each vector is read and written once.  Scalars are given in the vectors' own
precision, so float32 stays float32 whatever the caller's numbers are.
"""

import numpy as np

from .cache import kernel
from .parts import parts_for, run


def sgd(value, grad, momentum, lr, mu=0.0, nesterov=False, decay=None, weight_decay=0.0):
    """g = grad + weight_decay decay value;  m = mu m + g;  value -= lr (g + mu m if nesterov else m);  grad = 0.

    Parameters
    ----------
    value, grad, momentum : ndarray, (n,)
        float32 or float64, all the same; changed in place.  `momentum` starts at zero, and may be None when mu is 0.
    lr, mu, weight_decay : float
    nesterov : bool
    decay : ndarray, (n,), or None
        1 where weight decay acts, 0 elsewhere; None: everywhere.

    Notes
    -----
    The form of PyTorch (the learning rate is outside the momentum): Sutskever et al., 2013.
    """
    number = value.dtype.type
    masked, mask, one = decay is not None, value if decay is None else decay, number(1)
    if momentum is None and mu:
        raise ValueError(f"sgd: momentum {mu} needs a momentum vector; got None")
    if momentum is None:
        run(sgd_plain, parts_for(5 * value.size), value, grad, number(lr), one, masked, mask, number(weight_decay))
    else:
        rates = number(lr), number(mu), nesterov, one, masked, mask, number(weight_decay)
        run(sgd_momentum, parts_for(5 * value.size), value, grad, momentum, *rates)


def adam(value, grad, mean, square, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=None, weight_decay=0.0, decoupled=False):
    """m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;  value -= lr m' / (sqrt(v') + eps);  grad = 0.

    m' = m / (1 - b1^step) and v' = v / (1 - b2^step) undo the start at zero; eps is outside that correction.

    Parameters
    ----------
    value, grad, mean, square : ndarray, (n,)
        float32 or float64, all the same; changed in place.  `mean` and `square` start at zero.
    step : int
        Number of this update, from 1.
    lr, beta1, beta2, eps, weight_decay : float
    decay : ndarray, (n,), or None
        1 where weight decay acts, 0 elsewhere; None: everywhere.
    decoupled : bool
        False: weight_decay * value is added to the gradient.  True: value shrinks by lr * weight_decay first (AdamW).

    Notes
    -----
    Kingma and Ba, 2015; Loshchilov and Hutter, 2019 (decoupled).
    """
    if step < 1:
        raise ValueError(f"adam: step is {step}; updates are counted from 1")
    number = value.dtype.type
    masked, mask, one = decay is not None, value if decay is None else decay, number(1)
    rate = number(lr / (1 - beta1**step))
    scale = number(1 / np.sqrt(1 - beta2**step))
    added, shrunk = (0.0, lr * weight_decay) if decoupled else (weight_decay, 0.0)
    run(
        adam_pass, parts_for(10 * value.size),
        value, grad, mean, square, rate, number(beta1), number(1 - beta1), number(beta2), number(1 - beta2),
        number(eps), scale, one, masked, mask, number(added), number(shrunk),
    )  # fmt: skip


@kernel
def sgd_plain(part, parts, value, grad, lr, one, masked, mask, weight_decay):
    first, last = value.size * part // parts, value.size * (part + 1) // parts
    v, g, k = value[first:last], grad[first:last], mask[first:last]
    for i in range(v.size):
        v[i] -= lr * (g[i] + weight_decay * (k[i] if masked else one) * v[i])
        g[i] = 0


@kernel
def sgd_momentum(part, parts, value, grad, momentum, lr, mu, nesterov, one, masked, mask, weight_decay):
    first, last = value.size * part // parts, value.size * (part + 1) // parts
    v, g, m, k = value[first:last], grad[first:last], momentum[first:last], mask[first:last]
    if weight_decay == 0 and not nesterov:  # a loop without choices becomes vectors
        for i in range(v.size):
            u = mu * m[i] + g[i]
            m[i] = u
            v[i] -= lr * u
            g[i] = 0
        return
    for i in range(v.size):
        d = g[i] + weight_decay * (k[i] if masked else one) * v[i]
        u = mu * m[i] + d
        m[i] = u
        v[i] -= lr * (d + mu * u if nesterov else u)
        g[i] = 0


@kernel
def adam_pass(
    part, parts, value, grad, mean, square, rate, beta1, rest1, beta2, rest2, eps, scale, one, masked, mask, added, shrunk
):  # fmt: skip
    first, last = value.size * part // parts, value.size * (part + 1) // parts
    v, g, k, means, squares = value[first:last], grad[first:last], mask[first:last], mean[first:last], square[first:last]
    for i in range(v.size):
        d = k[i] if masked else one
        u = g[i] + added * d * v[i]
        m = beta1 * means[i] + rest1 * u
        s = beta2 * squares[i] + rest2 * (u * u)
        means[i] = m
        squares[i] = s
        v[i] = v[i] - shrunk * d * v[i] - rate * m / (np.sqrt(s) * scale + eps)
        g[i] = 0
