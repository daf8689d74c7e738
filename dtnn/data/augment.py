"""Changed copies of the training images, new ones in each step, the same on any number of ranks.

An augmentation is any function (images, draw) -> images: batch-first arrays in, of the user's dtype, the same shape out.
`draw(k)` gives it random numbers, (n, k) float64 in [0, 1), that depend on the run's seed, the step, and which sample of
the data set it is; so neither the number of ranks nor the place in the batch matters.  Those here are settings to be called.
"""

from dataclasses import dataclass

import numpy as np

from ..allowed import listed, number, shown, whole
from ..kernels.random import stream

FAR = 1 << 20  # pixels: further than any image goes


class Draw:
    """Random numbers for given samples: a function of (key, how many draws came before, index of the sample).

    Parameters
    ----------
    key : tuple of int
        Such as (seed, step).
    indices : ndarray of int, (n,)
        Of the samples in the data set.

    Examples
    --------
    >>> whole, part = Draw((0, 1), np.array([7, 3, 5])), Draw((0, 1), np.array([3, 5]))
    >>> bool((whole(2)[1:] == part(2)).all())
    True
    """

    def __init__(self, key, indices):
        self.key, self.indices, self.calls = key, np.asarray(indices).astype(np.uint64), 0

    def __call__(self, count=1):
        start = stream(*self.key, self.calls)
        self.calls += 1
        samples = _stir(start + self.indices * np.uint64(0x9E3779B97F4A7C15))
        numbers = _stir(samples[:, None] + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0xD1B54A32D192ED03))
        return (numbers >> np.uint64(11)) * 2.0**-53


@dataclass(frozen=True)
class Flip:
    """Mirrors an image left to right, with the given probability.

    >>> Flip(1.0)(np.arange(3).reshape(1, 1, 3, 1), Draw((0,), [0])).ravel()
    array([2, 1, 0])
    """

    probability: float = 0.5

    def __post_init__(self):
        number("Flip: probability", self.probability, "a number from 0 to 1, such as 0.5", lambda value: 0 <= value <= 1)

    def __call__(self, images, draw):
        chosen = draw()[:, 0] < self.probability
        images[chosen] = images[chosen, :, ::-1]
        return images


@dataclass(frozen=True)
class Shift:
    """Moves an image by up to `pixels` each way; zeros come in (a random crop after padding).

    >>> image = np.zeros((1, 5, 5, 1), np.uint8)
    >>> image[0, 2, 2] = 9
    >>> Shift(1)(image.copy(), Draw((0,), [0])).sum(), Shift(0)(image.copy(), Draw((0,), [0]))[0, 2, 2, 0]
    (np.uint64(9), np.uint8(9))
    """

    pixels: int = 4

    def __post_init__(self):
        whole("Shift: pixels", self.pixels, 0, FAR)

    def __call__(self, images, draw):
        height, width, channels = images.shape[1:]
        p = self.pixels
        offsets = (draw(2) * (2 * p + 1)).astype(int)
        padded = np.zeros((height + 2 * p, width + 2 * p, channels), images.dtype)
        for image, (down, right) in zip(images, offsets):
            padded[p : p + height, p : p + width] = image
            image[...] = padded[down : down + height, right : right + width]
        return images


@dataclass(frozen=True)
class Cutout:
    """Sets a square of `size` pixels, somewhere in the image and partly outside perhaps, to zero (DeVries and Taylor, 2017).

    >>> image = Cutout(2)(np.ones((1, 8, 8, 1), np.uint8), Draw((0,), [0]))
    >>> 0 < int((image == 0).sum()) <= 4
    True
    """

    size: int = 8

    def __post_init__(self):
        whole("Cutout: size", self.size, 1, FAR)

    def __call__(self, images, draw):
        middles = (draw(2) * images.shape[1:3]).astype(int)
        for image, (row, column) in zip(images, middles):
            top, left = row - self.size // 2, column - self.size // 2
            image[max(0, top) : top + self.size, max(0, left) : left + self.size] = 0
        return images


def changes(augment, x):
    """The functions of a list of augmentations for inputs x, as a tuple.

    >>> changes([Flip()], np.zeros((6, 784)))
    Traceback (most recent call last):
    ValueError: augment: Flip(probability=0.5) changes images (N, H, W, C), but the inputs have shape (6, 784); ...
    """
    found = tuple(listed("augment", augment, "functions of (images, draw), such as [Flip(), Shift(2)]"))
    for change in found:
        if not callable(change) or isinstance(change, type):
            raise TypeError(f"augment: {shown(change)} is no function of (images, draw); give such as [Flip(), Shift(2)]")
        if isinstance(change, Flip | Shift | Cutout) and np.ndim(x) != 4:
            raise ValueError(
                f"augment: {change!r} changes images (N, H, W, C), but the inputs have shape {np.shape(x)}; reshape them, "
                "or give a function of your own"
            )
    return found


def augmented(images, changes, draw):
    """Images after one change after the other, each of which has to leave their shape and type as they are.

    >>> augmented(np.arange(3).reshape(1, 1, 3, 1), (Flip(1.0), Shift(0)), Draw((0,), [0])).ravel()
    array([2, 1, 0])
    """
    for change in changes:
        images = _same_kind(np.asarray(change(images, draw)), images, change)
    return images


def _same_kind(changed, images, change):
    if changed.shape != images.shape:
        raise ValueError(
            f"augment: {change!r} made an array of shape {changed.shape} from one of {images.shape}; "
            "it must return images of the same shape"
        )
    if changed.dtype != images.dtype:  # a cast would wrap 256 round to 0
        raise TypeError(
            f"augment: {change!r} made an array of {changed.dtype} from one of {images.dtype}; "
            "it must return the same type: np.clip(changed, 0, 255).astype(np.uint8) for bytes"
        )
    return np.ascontiguousarray(changed)


def _stir(x):
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014), on an array."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
