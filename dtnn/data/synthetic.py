"""Made-up images of any size, for measurements and where there is no network."""

import operator

import numpy as np

from ..allowed import shown, whole
from ..kernels.random import bits, stream
from .dataset import Dataset

MOST = 1 << 31  # images, or classes: more than any memory has room for
COARSE = 4  # pixels: the side of the squares that make up a class's pattern


def synthetic(shape=(32, 32, 3), classes=10, samples=1000, test=200, seed=0):
    """Images of coloured squares, one pattern a class, under noise: learnt in a few epochs, so that training can be seen to work.

    Parameters
    ----------
    shape : tuple
        (height, width, channels) of an image: (224, 224, 3) costs what ImageNet costs.
    classes, samples, test : int
        Number of classes, of images to train and to test on.
    seed : int
        Another one gives other patterns, and other noise.

    Returns
    -------
    Dataset
        Images uint8, labels 0 .. classes-1 in turn.  The same arguments give the same images on every machine, and
        a pickle holds only the call.

    Raises
    ------
    ValueError
        A number that is not positive, or a shape that is none of an image.

    Examples
    --------
    >>> synthetic((8, 8, 3), classes=2, samples=6, test=4)
    Dataset synthetic: 2 classes, samples (8, 8, 3) uint8 x 1/255
      train  6 samples, 3 a class
      test   4 samples, 2 a class
    """
    seed = whole("seed", seed, 0, 2**63 - 1)
    shape = _checked(shape, classes=classes, samples=samples, test=test)
    label = np.arange(samples + test) % classes
    noise = bits(stream(seed, 1), int(np.prod(shape)), 0, samples + test) >> np.uint32(25)  # 0..127
    images = (_patterns(shape, classes, seed)[label] + noise.T.reshape(-1, *shape)).astype(np.uint8)
    parts = images[:samples], label[:samples], images[samples:], label[samples:]
    return Dataset(*parts, name="synthetic", classes=classes, source=(synthetic, (shape, classes, samples, test, seed)))


def _patterns(shape, classes, seed):
    """One image a class, 0 or 64 or 128 in squares of COARSE pixels."""
    height, width, channels = shape
    squares = (-(-height // COARSE), -(-width // COARSE), channels)
    values = bits(stream(seed, 0), int(np.prod(squares)), 0, classes) % np.uint32(3) * np.uint32(64)
    coarse = values.T.reshape(classes, *squares)
    return coarse.repeat(COARSE, axis=1).repeat(COARSE, axis=2)[:, :height, :width]


def _checked(shape, **numbers):
    try:
        found = () if isinstance(shape, bytes) else tuple(map(operator.index, shape))
    except TypeError:
        found = ()
    if len(found) != 3 or min(found) < 1:
        raise ValueError(f"shape={shown(shape)}: give (height, width, channels), such as (32, 32, 3)")
    for name, value in numbers.items():
        whole(name, value, 1, MOST)
    return found
