"""Points in the plane, for pictures of what a network learns: the sets of the TensorFlow Playground, between -1 and 1.

Each function gives a `Dataset` of rows (N, 2), as many of each class; the same arguments give the same points on every machine,
so a pickle holds only the call.

Parameters of all of them: `samples` to train on, and as many to test on; `noise` from 0 (clean) to 1; `seed`.
"""

import numpy as np

from ..allowed import number, whole
from ..kernels.random import stream, uniform
from .dataset import Dataset

MOST = 1 << 24  # points: far more than a picture shows


def circle(samples=200, noise=0.0, seed=0):
    """A disc (class 1) inside a ring (class 0); noise blurs where the one ends.

    >>> circle()
    Dataset circle: 2 classes, samples (2,) float32
      train  200 samples, 100 a class
      test   200 samples, 100 a class
    """
    u, v, *blur = _draws(samples, 4, seed)
    label = _alternating(samples)
    radius = np.where(label == 1, 0.5 * np.sqrt(u), 0.7 + 0.3 * u)
    angle = 2 * np.pi * v
    return _dataset(circle, samples, noise, seed, radius * np.sin(angle), radius * np.cos(angle), label, blur)


def xor(samples=200, noise=0.0, seed=0):
    """Two opposite quarters of the square (class 1) against the other two; no line divides them.

    >>> len(xor(300)), xor(300).input_shape
    (300, (2,))
    """
    u, v, *blur = _draws(samples, 4, seed)
    label = _alternating(samples)
    sign = np.where(u < 0.5, -1.0, 1.0)
    x = sign * (0.06 + 0.94 * np.abs(2 * u - 1))
    y = np.where(label == 1, sign, -sign) * (0.06 + 0.94 * v)
    return _dataset(xor, samples, noise, seed, x, y, label, blur)


def gauss(samples=200, noise=0.0, seed=0):
    """Two clouds; a single line divides them, if they are not too wide.

    >>> len(gauss(300)), gauss(300).input_shape
    (300, (2,))
    """
    *parts, first, second = _draws(samples, 14, seed)
    label = _alternating(samples)
    side = np.where(label == 1, 0.4, -0.4)
    # the sum of six uniform numbers is close enough to a bell, and needs no function that differs between machines
    x, y = (0.2 * (np.sum(half, axis=0) - 3) for half in (parts[:6], parts[6:]))
    return _dataset(gauss, samples, noise, seed, side + x, side + y, label, (first, second))


def spiral(samples=200, noise=0.0, seed=0):
    """Two arms that wind around each other; the hardest.

    >>> len(spiral(300)), spiral(300).input_shape
    (300, (2,))
    """
    u, *blur = _draws(samples, 3, seed)
    label = _alternating(samples)
    angle = 1.75 * 2 * np.pi * u + np.pi * label
    return _dataset(spiral, samples, noise, seed, 0.95 * u * np.sin(angle), 0.95 * u * np.cos(angle), label, blur)


def _alternating(samples):
    return np.arange(2 * samples) % 2


def _draws(samples, numbers, seed):
    whole("samples", samples, 2, MOST)
    seed = whole("seed", seed, 0, 2**63 - 1)
    return uniform(stream(seed, 2), numbers, 0, 2 * samples).astype(np.float64)


def _dataset(make, samples, noise, seed, x, y, label, blur):
    number("noise", noise, "a number from 0 (clean) to 1", lambda noise: 0 <= noise <= 1)
    points = np.stack([x, y], axis=1) + 0.5 * noise * (2 * np.stack(blur, axis=1) - 1)
    points = np.ascontiguousarray(points, np.float32)
    halves = points[:samples], label[:samples], points[samples:], label[samples:]
    return Dataset(*halves, name=make.__name__, classes=2, source=(make, (samples, noise, seed)))
