"""`vgg11`: eight convolutions, five poolings."""

from ..model import Model
from ..nn import BatchNorm2d, Conv2d, Flatten, Linear, MaxPool2d, ReLU


def vgg11(input_shape=(32, 32, 3), classes=10, seed=0):
    """VGG-11 with batch normalisation and one dense layer: 9,228,362 parameters for 32 x 32 colour images.

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
    The usual form for small images: the dense layers of 4,096 are left out.  Simonyan and Zisserman, "Very deep convolutional
    networks for large-scale image recognition", 2015.

    Examples
    --------
    >>> vgg11().net.shapes[-2]
    (512,)
    """
    layers = []
    for channels in (64, None, 128, None, 256, 256, None, 512, 512, None, 512, 512, None):
        if channels is None:
            layers.append(MaxPool2d(2))
        else:
            layers += [Conv2d(channels, 3, padding=1, bias=False, init="he_normal"), BatchNorm2d(), ReLU()]
    return Model(*layers, Flatten(), Linear(classes), input_shape=input_shape, seed=seed)
