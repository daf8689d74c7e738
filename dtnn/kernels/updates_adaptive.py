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


def rmsprop(value, grad, square, mean, momentum, lr, alpha, mu, eps, decay=None, weight_decay=0.0):
    """v = a v + (1-a) g^2;  m = a m + (1-a) g;  b = mu b + g / (sqrt(v - m^2) + eps);  value -= lr b;  grad = 0.

    `mean` None leaves out m, `momentum` None stands for mu = 0.
    """
    number = value.dtype.type
    masked, mask = decay is not None, value if decay is None else decay
    centred, moves = mean is not None, momentum is not None
    vectors = (value, grad, square, mean if centred else square, momentum if moves else square)
    rmsprop_pass(*vectors, centred, moves, masked, mask, *map(number, (lr, alpha, 1 - alpha, mu, eps, weight_decay)))


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


@kernel
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
def rmsprop_pass(value, grad, square, mean, momentum, centred, moves, masked, mask, lr, alpha, rest, mu, eps, weight_decay):
    for i in range(value.size):
        g = grad[i] + (weight_decay * mask[i] if masked else weight_decay) * value[i]
        s = alpha * square[i] + rest * (g * g)
        square[i] = s
        if centred:
            m = alpha * mean[i] + rest * g
            mean[i] = m
            s = max(s - m * m, s * 0)  # rounding may make the variance of a constant gradient negative; NaN stays
        change = g / (np.sqrt(s) + eps)
        if moves:
            change += mu * momentum[i]
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
        begin, end = starts[k], ends[k]
        decay, rate = weight_decay * 0, lr
        if adapted[k]:
            decay = weight_decay
            w, g = np.sqrt(squares(value[begin:end])), np.sqrt(squares(grad[begin:end]))
            if w > 0 and g > 0:
                rate = type(lr)(lr * trust * w / (g + decay * w))
        for i in range(begin, end):
            m = mu * momentum[i] + rate * (grad[i] + decay * value[i])
            momentum[i] = m
            value[i] -= m
            grad[i] = 0


@kernel
def lamb_pass(
    value, grad, mean, square, starts, ends, adapted, lr, beta1, rest1, beta2, rest2, correct1, correct2, eps, weight_decay
):
    for k in range(starts.size):
        begin, end = starts[k], ends[k]
        decay, rate = weight_decay if adapted[k] else weight_decay * 0, lr
        for i in range(begin, end):
            g = grad[i]
            m = beta1 * mean[i] + rest1 * g
            s = beta2 * square[i] + rest2 * (g * g)
            mean[i] = m
            square[i] = s
            grad[i] = m * correct1 / (np.sqrt(s) * correct2 + eps) + decay * value[i]  # u takes the gradient's place
        if adapted[k]:
            w, u = np.sqrt(squares(value[begin:end])), np.sqrt(squares(grad[begin:end]))
            if w > 0 and u > 0:
                rate = type(lr)(lr * w / u)
        for i in range(begin, end):
            value[i] -= rate * grad[i]
            grad[i] = 0
