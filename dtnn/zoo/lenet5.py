"""`lenet5`: the convolutional network that read the digits on cheques."""

from ..model import Model
from ..nn import Conv2d, Flatten, Linear, MaxPool2d, ReLU


def lenet5(input_shape=(28, 28, 1), classes=10, seed=0):
    """LeNet-5 with ReLU and maxima: 61,706 parameters for 28 x 28 grey images.

    Parameters
    ----------
    input_shape : (H, W, C)
    classes : int
    seed : int
        Of the first weights.

    Returns
    -------
    Model

    Notes
    -----
    LeCun, Bottou, Bengio and Haffner, "Gradient-based learning applied to document recognition", 1998.

    Examples
    --------
    >>> lenet5().parameters.segments[0].shape
    (6, 1, 5, 5)
    """
    return Model(
        Conv2d(6, 5, padding=2), ReLU(), MaxPool2d(2),
        Conv2d(16, 5), ReLU(), MaxPool2d(2),
        Flatten(),
        Linear(120), ReLU(),
        Linear(84), ReLU(),
        Linear(classes),
        input_shape=input_shape, seed=seed,
    )  # fmt: skip
