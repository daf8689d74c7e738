"""More optimiser updates in one fused pass: rates of their own for each weight (Nadam, RMSProp, Adagrad) or layer (LARS, LAMB).

As in `updates.py`: flat vectors, changed in place, the gradient zero afterwards; scalars in the vectors' own precision.
`decay` is a vector of 0 and 1 that says where weight decay acts, or None for everywhere.
"""

import numpy as np

from .cache import kernel


def nadam(value, grad, mean, square, lr_mean, lr_grad, beta1, beta2, scale, eps, decay=None, weight_decay=0.0):
    """m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;  value -= (lr_mean m + lr_grad g) / (sqrt(v) scale + eps);  grad = 0.

    The caller puts the corrections of the start at zero into `lr_mean`, `lr_grad` and `scale` (see `optim.Nadam`).
    """
    number = value.dtype.type
    masked, mask = decay is not None, value if decay is None else decay
    scalars = (lr_mean, lr_grad, beta1, 1 - beta1, beta2, 1 - beta2, scale, eps, weight_decay)
    nadam_pass(value, grad, mean, square, masked, mask, *map(number, scalars))


def rmsprop(value, grad, square, mean, momentum, lr, alpha, mu, eps, centred=False, decay=None, weight_decay=0.0):
    """v = a v + (1-a) g^2;  m = a m + (1-a) g;  b = mu b + g / (sqrt(v - m^2) + eps);  value -= lr b;  grad = 0.

    Not `centred`: without m.  `mean` and `momentum` may both be None where neither is needed.
    """
    number = value.dtype.type
    masked, mask = decay is not None, value if decay is None else decay
    scalars = map(number, (lr, alpha, 1 - alpha, eps, weight_decay))
    if mean is None:
        rmsprop_plain(value, grad, square, masked, mask, *scalars)
    else:
        rmsprop_momentum(value, grad, square, mean, momentum, centred, masked, mask, *scalars, number(mu))


def adagrad(value, grad, total, lr, eps, decay=None, weight_decay=0.0):
    """s = s + g^2;  value -= lr g / (sqrt(s) + eps);  grad = 0."""
    number = value.dtype.type
    masked, mask = decay is not None, value if decay is None else decay
    adagrad_pass(value, grad, total, masked, mask, *map(number, (lr, eps, weight_decay)))


def lars(value, grad, momentum, starts, ends, adapted, lr, mu, trust, weight_decay):
    """For each segment: r = trust |w| / (|g| + d |w|);  m = mu m + lr r (g + d w);  w -= m;  grad = 0.

    Where a norm is 0, and in segments that aren't `adapted` (biases, normalisation), r = 1; the latter have d = 0, too.
    """
    number = value.dtype.type
    lars_pass(value, grad, momentum, starts, ends, adapted, *map(number, (lr, mu, trust, weight_decay)))


def lamb(value, grad, mean, square, starts, ends, adapted, step, lr, beta1, beta2, eps, weight_decay):
    """m and v as Adam;  u = m' / (sqrt(v') + eps) + d w;  for each segment r = |w| / |u|;  w -= lr r u;  grad = 0.

    Where a norm is 0, and in segments that aren't `adapted`, r = 1; the latter have d = 0, too.
    """
    number = value.dtype.type
    corrections = (1 / (1 - beta1**step), 1 / np.sqrt(1 - beta2**step))
    scalars = (lr, beta1, 1 - beta1, beta2, 1 - beta2, *corrections, eps, weight_decay)
    lamb_pass(value, grad, mean, square, starts, ends, adapted, *map(number, scalars))


def clip(grad, limit):
    """Scale the vector down so that its 2-norm is at most `limit`; returns the norm it had, summed in float64.

    A norm that is not finite leaves the vector alone, so that whoever looks for NaN still finds it.

    Examples
    --------
    >>> grad = np.array([3.0, 4.0], np.float32)
    >>> clip(grad, 1.0), grad.tolist()
    (5.0, [0.6000000238418579, 0.800000011920929])
    """
    norm = float(np.sqrt(squares(grad)))
    if limit < norm < np.inf:
        grad *= grad.dtype.type(limit / norm)
    return norm


@kernel(inlined=True)
def squares(vector):
    """Sum of squares; in float64, for a million float32 would lose digits."""
    total = 0.0
    for i in range(vector.size):
        total += np.float64(vector[i]) * np.float64(vector[i])
    return total


@kernel
def nadam_pass(value, grad, mean, square, masked, mask, lr_mean, lr_grad, beta1, rest1, beta2, rest2, scale, eps, weight_decay):
    for i in range(value.size):
        g = grad[i] + (weight_decay * mask[i] if masked else weight_decay) * value[i]
        m = beta1 * mean[i] + rest1 * g
        s = beta2 * square[i] + rest2 * (g * g)
        mean[i] = m
        square[i] = s
        value[i] -= (lr_mean * m + lr_grad * g) / (np.sqrt(s) * scale + eps)
        grad[i] = 0


@kernel
def rmsprop_plain(value, grad, square, masked, mask, lr, alpha, rest, eps, weight_decay):
    for i in range(value.size):
        g = grad[i] + (weight_decay * mask[i] if masked else weight_decay) * value[i]
        s = alpha * square[i] + rest * (g * g)
        square[i] = s
        value[i] -= lr * g / (np.sqrt(s) + eps)
        grad[i] = 0


@kernel
def rmsprop_momentum(value, grad, square, mean, momentum, centred, masked, mask, lr, alpha, rest, eps, weight_decay, mu):
    for i in range(value.size):
        g = grad[i] + (weight_decay * mask[i] if masked else weight_decay) * value[i]
        s = alpha * square[i] + rest * (g * g)
        m = alpha * mean[i] + rest * g
        square[i] = s
        mean[i] = m
        if centred:
            s = max(s - m * m, s * 0)  # rounding may make the variance of a constant gradient negative; NaN stays
        change = mu * momentum[i] + g / (np.sqrt(s) + eps)
        momentum[i] = change
        value[i] -= lr * change
        grad[i] = 0


@kernel
def adagrad_pass(value, grad, total, masked, mask, lr, eps, weight_decay):
    for i in range(value.size):
        g = grad[i] + (weight_decay * mask[i] if masked else weight_decay) * value[i]
        s = total[i] + g * g
        total[i] = s
        value[i] -= lr * g / (np.sqrt(s) + eps)
        grad[i] = 0


@kernel
def lars_pass(value, grad, momentum, starts, ends, adapted, lr, mu, trust, weight_decay):
    for k in range(starts.size):
        w, g, m = value[starts[k] : ends[k]], grad[starts[k] : ends[k]], momentum[starts[k] : ends[k]]
        decay = weight_decay if adapted[k] else weight_decay * 0
        rate = lr
        if adapted[k]:
            size, steepness = np.sqrt(squares(w)), np.sqrt(squares(g))
            if size > 0 and steepness > 0:
                rate = type(lr)(lr * trust * size / (steepness + decay * size))
        for i in range(w.size):
            change = mu * m[i] + rate * (g[i] + decay * w[i])
            m[i] = change
            w[i] -= change
            g[i] = 0


@kernel
def lamb_pass(
    value, grad, mean, square, starts, ends, adapted, lr, beta1, rest1, beta2, rest2, correct1, correct2, eps, weight_decay
):
    for k in range(starts.size):
        w, u = value[starts[k] : ends[k]], grad[starts[k] : ends[k]]  # the step u takes the gradient's place
        decay = weight_decay if adapted[k] else weight_decay * 0
        means, squared = mean[starts[k] : ends[k]], square[starts[k] : ends[k]]
        for i in range(w.size):
            m = beta1 * means[i] + rest1 * u[i]
            s = beta2 * squared[i] + rest2 * (u[i] * u[i])
            means[i] = m
            squared[i] = s
            u[i] = m * correct1 / (np.sqrt(s) * correct2 + eps) + decay * w[i]
        rate = lr
        if adapted[k]:
            size, length = np.sqrt(squares(w)), np.sqrt(squares(u))
            if size > 0 and length > 0:
                rate = type(lr)(lr * size / length)
        for i in range(w.size):
            w[i] -= rate * u[i]
            u[i] = 0
