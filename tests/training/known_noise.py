"""A training whose gradient noise is known: of a linear model each sample's gradient has a formula."""

import numpy as np

from dtnn import Model
from dtnn.data import Samples
from dtnn.nn import Linear

FEATURES, OUTPUTS, ROWS, BATCH = 6, 3, 2000, 10


def rows():
    """Numbers that a linear model can't quite foresee."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((ROWS, FEATURES))
    y = x @ rng.standard_normal((FEATURES, OUTPUTS)) + rng.standard_normal((ROWS, OUTPUTS))
    return Samples(x.astype(np.float32), y.astype(np.float32))


def network(**settings):
    return Model(Linear(OUTPUTS), input_shape=(FEATURES,), **settings)


def gradients_of_samples():
    """Each sample's gradient, a row each, by the formula: 2 / outputs times the residual times (x, 1)."""
    data, layer = rows(), network().layers[0]
    residuals = data.x @ layer.weight.value.T + layer.bias.value - data.y
    with_one = np.concatenate([data.x, np.ones((ROWS, 1))], axis=1)
    return (2 / OUTPUTS * residuals[:, :, None] * with_one[:, None, :]).reshape(ROWS, -1)


def true_noise_and_scale():
    found = gradients_of_samples()
    variance = found.var(0, ddof=1).sum()
    return variance, variance / np.square(found.mean(0)).sum()
