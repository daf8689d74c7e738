"""`simplecnn`: a small convolutional network with dropout."""

from ..model import Model
from ..nn import Conv2d, Dropout, Flatten, Linear, MaxPool2d, ReLU


def simplecnn(input_shape=(28, 28, 1), classes=10, seed=0):
    """Two 3 x 3 convolutions of 4 filters, pooling, a dense layer of 128 with dropout: 101,958 parameters for 28 x 28 images.

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
    The smallest network of the PyDTNN paper: there is no activation between the convolutions.

    Examples
    --------
    >>> simplecnn().net.shapes[-1]
    (10,)
    """
    return Model(
        Conv2d(4, 3, padding=1),
        Conv2d(4, 3, padding=1),
        MaxPool2d(2),
        Flatten(),
        Linear(128), ReLU(), Dropout(0.5),
        Linear(classes),
        input_shape=input_shape, seed=seed,
    )  # fmt: skip
