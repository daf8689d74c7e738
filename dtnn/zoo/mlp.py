"""`mlp`: a multi-layer perceptron."""

from ..allowed import listed
from ..model import Model
from ..nn import Flatten, Linear, ReLU


def mlp(input_shape=(28, 28, 1), hidden=(256, 128), classes=10, seed=0):
    """Dense layers with ReLU between them: 235,146 parameters for 28 x 28 grey images.

    Parameters
    ----------
    input_shape : (H, W, C)
    hidden : tuple of int
        Sizes of the layers between input and output.
    classes : int
    seed : int
        Of the first weights.

    Returns
    -------
    Model

    Examples
    --------
    >>> [s.shape for s in mlp().parameters.segments if s.name.endswith("weight")]
    [(256, 784), (128, 256), (10, 128)]
    """
    inner = [layer for size in listed("hidden", hidden, "sizes, such as (256, 128)") for layer in (Linear(size), ReLU())]
    return Model(Flatten(), *inner, Linear(classes), input_shape=input_shape, seed=seed)
