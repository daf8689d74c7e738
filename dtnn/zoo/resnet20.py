"""`resnet20`: a residual network for small images."""

from ..model import Model
from ..nn import BatchNorm2d, Conv2d, GlobalAvgPool2d, Linear, ReLU, Residual, Sequential


def resnet20(input_shape=(32, 32, 3), classes=10, seed=0):
    """ResNet-20 with 16, 32 and 64 channels: 272,474 parameters for 32 x 32 colour images.

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
    Nine blocks of two 3 x 3 convolutions; where the channels double, a 1 x 1 convolution of stride 2 is the shortcut.
    He, Zhang, Ren and Sun, "Deep residual learning for image recognition", 2016.

    Examples
    --------
    >>> resnet20().net.shapes[-2]
    (64,)
    """
    widths = [(channels, stride if block == 0 else 1) for channels, stride in ((16, 1), (32, 2), (64, 2)) for block in range(3)]
    blocks = [layer for channels, stride in widths for layer in (residual_block(channels, stride), ReLU())]
    return Model(
        convolution(16), BatchNorm2d(), ReLU(),
        *blocks,
        GlobalAvgPool2d(), Linear(classes),
        input_shape=input_shape, seed=seed,
    )  # fmt: skip


def residual_block(channels, stride):
    """Two convolutions beside a shortcut."""
    body = Sequential(convolution(channels, 3, stride), BatchNorm2d(), ReLU(), convolution(channels), BatchNorm2d())
    return Residual(body, Sequential(convolution(channels, 1, stride), BatchNorm2d()) if stride > 1 else None)


def convolution(channels, size=3, stride=1):
    """Without a bias, because BatchNorm follows."""
    return Conv2d(channels, size, stride=stride, padding=size // 2, bias=False, init="he_normal")
