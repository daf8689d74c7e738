"""`alexnet`: five convolutions and three dense layers with dropout, scaled to small images."""

from ..model import Model
from ..nn import Conv2d, Dropout, Flatten, Linear, MaxPool2d, ReLU


def alexnet(input_shape=(32, 32, 3), classes=10, seed=0):
    """AlexNet for small images: 3 x 3 filters, 3,831,114 parameters for 32 x 32 colour images.

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
    The channels of Krizhevsky, Sutskever and Hinton, 2012 (64, 192, 384, 256, 256), with three poolings of 2.

    Examples
    --------
    >>> alexnet().net.shapes[-1]
    (10,)
    """
    return Model(
        Conv2d(64, 3, stride=2, padding=1), ReLU(), MaxPool2d(2),
        Conv2d(192, 3, padding=1), ReLU(), MaxPool2d(2),
        Conv2d(384, 3, padding=1), ReLU(),
        Conv2d(256, 3, padding=1), ReLU(),
        Conv2d(256, 3, padding=1), ReLU(), MaxPool2d(2),
        Flatten(),
        Dropout(0.5), Linear(1024), ReLU(),
        Dropout(0.5), Linear(512), ReLU(),
        Linear(classes),
        input_shape=input_shape, seed=seed,
    )  # fmt: skip
