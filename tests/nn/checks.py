"""What the tests of layers share: arrays, a layer built in float64, and the check of all its gradients by differences."""

import numpy as np

from dtnn.nn import Parameters, Pass
from dtnn.nn.tree import named_parameters


def build(layer, shape, dtype=np.float64, seed=0):
    """(layer, output shape) with parameters of that type."""
    out = layer.build(shape, np.random.default_rng(seed))
    Parameters(layer, dtype)
    return layer, out


def gradients(layer, x, dy, **options):
    """(y, dx, the gradients of the parameters by name)"""
    parameters = named_parameters(layer)
    for _, p, _ in parameters:
        p.grad[...] = 0
    y, backward = layer.forward(x.copy(), Pass(), **options)
    y = y.copy()
    dx = backward(dy.copy())
    return y, dx.copy(), {name: p.grad.copy() for name, p, _ in parameters}


def numeric(function, array, places, h=1e-6):
    """Central differences of a scalar function with respect to some places of an array."""
    flat, out = array.reshape(-1), []
    for place in places:
        old = flat[place]
        flat[place] = old + h
        up = function()
        flat[place] = old - h
        down = function()
        flat[place] = old
        out.append((up - down) / (2 * h))
    return np.array(out)


def check_gradients(layer, shape, count=3, seed=0, spread=1.0, checks=24, **options):
    """Every gradient of a layer in float64 against central differences of sum(dy * y)."""
    rng = np.random.default_rng(seed)
    layer, out = build(layer, shape, seed=seed)
    for _, p, _ in named_parameters(layer):
        p.value[...] += 0.1 * rng.standard_normal(p.value.shape)  # biases that are not zero
    x = spread * rng.standard_normal((*shape, count))
    dy = rng.standard_normal((*out, count))

    def value():
        return float((dy * layer.forward(x.copy(), Pass(), **options)[0]).sum())

    y, dx, grads = gradients(layer, x, dy, **options)
    assert y.shape == dy.shape
    pairs = [(x, dx), *((p.value, grads[name]) for name, p, _ in named_parameters(layer))]
    for array, gradient in pairs:
        places = rng.permutation(array.size)[:checks]
        np.testing.assert_allclose(gradient.reshape(-1)[places], numeric(value, array, places), rtol=1e-6, atol=1e-7)


def close32(a, b, tolerance=3e-5, least=1e-3):
    """Equal to float32 rounding, relative to the largest number (or to `least`, if all are small)."""
    assert a.dtype == np.float32
    assert np.abs(a - b).max(initial=0) <= tolerance * max(least, np.abs(b).max(initial=0))


def agree(layer, shape, count, seed=0, **options):
    """The float32 kernels against the plain float64 path, forward and backward, on the same weights."""
    rng = np.random.default_rng(seed)
    layer, out = build(layer, shape, np.float32, seed)
    for _, p, _ in named_parameters(layer):
        p.value[...] += 0.1 * rng.standard_normal(p.value.shape)
    x, dy = rng.standard_normal((*shape, count)).astype(np.float32), rng.standard_normal((*out, count)).astype(np.float32)
    fast = gradients(layer, x, dy, **options)
    Parameters(layer, np.float64)
    exact = gradients(layer, x.astype(float), dy.astype(float), **options)
    close32(fast[0], exact[0])
    close32(fast[1], exact[1])
    for name, gradient in fast[2].items():
        close32(gradient, exact[2][name], 1e-4, 1)
