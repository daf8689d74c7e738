"""`fingerprint_of`: 64 bits that stand for the weights of a network."""

from ..kernels.fingerprint import fingerprint


def fingerprint_of(parameters, buffers=()):
    """A number that differs wherever any bit does of all values, and of the running statistics of these names.

    For the replicas of one program, at the speed of memory; for the world outside there is `Parameters.hash`.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.nn import Linear, Parameters
    >>> layer = Linear(2)
    >>> layer.build((3,), np.random.default_rng(0))
    (2,)
    >>> parameters = Parameters(layer)
    >>> before = fingerprint_of(parameters)
    >>> layer.bias.value[1] = -0.0
    >>> fingerprint_of(parameters) == before
    False
    """
    found = fingerprint(parameters.value)
    for name in sorted(buffers):
        found = fingerprint(parameters.buffers[name], found)
    return found
