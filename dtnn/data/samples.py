"""Inputs with their targets, as training and evaluation use them."""

import math
from dataclasses import dataclass

import numpy as np

from ..allowed import number
from ..kernels.aligned import aligned
from ..kernels.gather import gather
from .augment import Draw, augmented, changes
from .inputs import check_inputs, inputs
from .labels import labels, targets

SMALL = 1 << 14  # numbers that NumPy has turned before a kernel is called


@dataclass(frozen=True, eq=False, repr=False)
class Samples:
    """N inputs, batch first, and their targets; checked when made.

    Parameters
    ----------
    x : array, shape (N, H, W, C), (N, D) or, for tokens, (N, T)
        uint8, float32, float64 (converted, with a note) or whole numbers (tokens).
    y : array, shape (N,) or (N, K), or None
        Labels or numbers; None where nothing is known yet (prediction).
    scale : float, optional
        Inputs are multiplied by it while a mini-batch is gathered; 1/255 for uint8, else 1, when not given.
    part : str
        Appended to x and y in messages: "_train" gives x_train.
    augment : sequence of functions
        Applied to the inputs of a mini-batch that is gathered with a key, that is, in training; see `dtnn.data.augment`.

    Raises
    ------
    ValueError, TypeError
        As `inputs` and `targets` say.

    Examples
    --------
    >>> import numpy as np
    >>> few = Samples(np.zeros((5, 28, 28, 1), np.uint8), [3, 1, 4, 1, 5])
    >>> few
    Samples(5 x (28, 28, 1) uint8, labels 1..5)
    >>> few.input_shape, len(few), few.scale == 1 / 255
    ((28, 28, 1), 5, True)
    """

    x: np.ndarray
    y: np.ndarray | None = None
    scale: float | None = None
    part: str = ""
    augment: tuple = ()

    def __post_init__(self):
        set_ = object.__setattr__  # the usual way to fill a frozen dataclass
        set_(self, "x", inputs(self.x, f"x{self.part}"))
        set_(self, "augment", changes(self.augment, self.x))
        if self.y is not None:
            set_(self, "y", targets(self.y, len(self.x), f"y{self.part}", f"x{self.part}"))
        if self.scale is None:
            set_(self, "scale", 1 / 255 if self.x.dtype == np.uint8 else 1.0)
        number("scale", self.scale, "a finite number that is not 0, such as 1/255", lambda scale: scale and math.isfinite(scale))

    @property
    def input_shape(self):
        """Shape of one sample as the user writes it: (H, W, C), (D,) or (T,)."""
        return self.x.shape[1:]

    @property
    def tokens(self):
        """Whether the inputs are whole numbers for an `Embedding`."""
        return self.x.dtype == np.int32

    def __len__(self):
        return len(self.x)

    def __getitem__(self, rows):
        """The samples of a slice, an index or an array of indices."""
        rows = [rows] if np.isscalar(rows) else rows
        return self.replaced(x=np.ascontiguousarray(self.x[rows]), y=None if self.y is None else self.y[rows])

    def __repr__(self):
        return f"Samples({len(self)} x {self.input_shape} {self.x.dtype}, {self._told()})"

    def suit(self, input_shape, classes=None, tokens=False):
        """The same samples, checked against a model; with `classes`, the targets become labels (N,).

        Parameters
        ----------
        input_shape : tuple
            What the model takes, (H, W, C), (D,) or (T,).
        classes : int, optional
            The number of the model's outputs, where its loss wants class labels.
        tokens : bool
            Whether the model begins with an `Embedding`.

        Raises
        ------
        ValueError, TypeError
            Another shape, tokens for a model that takes none (or the reverse), labels out of range; with a remedy.
        """
        check_inputs(self.x, input_shape, tokens, f"x{self.part}")
        if classes is None or self.y is None or self._is_sequence_of_labels():
            return self
        return self.replaced(y=labels(self.y, classes, f"y{self.part}"))

    def gather(self, indices, out=None, dtype=np.float32, key=None):
        """One mini-batch, batch last: inputs (C, H, W, n), (D, n) or (T, n), and targets (n,) or (n, K).

        Inputs are turned, scaled and converted in one pass over memory, into `out` where given (a buffer of `Pass.empty`).
        With a `key`, such as (seed, step), they are augmented.
        """
        return self.gather_inputs(indices, out, dtype, key), self.gather_targets(indices, dtype)

    def gather_inputs(self, indices, out=None, dtype=np.float32, key=None):
        """The inputs of a mini-batch, batch last: (C, H, W, n), (D, n) or (T, n)."""
        if self.augment and key is not None and len(indices):
            changed = self.replaced(x=augmented(self.x[indices], self.augment, Draw(key, indices)))
            return changed.gather_inputs(np.arange(len(indices)), out, dtype)
        if self.tokens:
            return _turned(self.x[indices], out)
        if out is None:
            out = aligned(batch_last(self.input_shape, len(indices)), dtype)
        if self.x.ndim == 2:
            return gather(self.x, indices, out, self.scale)
        channels = self.x.shape[-1]  # what lies between batch and channels is, to the kernel, one long row of pixels
        pixels = math.prod(self.x.shape[1:-1])  # said, not -1: a share may be empty
        gather(
            self.x.reshape(len(self), pixels, 1, channels), indices, out.reshape(channels, pixels, 1, len(indices)), self.scale
        )
        return out

    def turned(self, start, stop, out):
        """The inputs of samples start .. stop - 1, as `gather_inputs` has them, in `out` (a buffer of `Pass.empty`)."""
        if out.size > SMALL and not self.tokens:
            return self.gather_inputs(np.arange(start, stop), out, out.dtype)
        rows = self.x[start:stop].swapaxes(0, -1)
        if self.tokens:
            out[...] = rows
            return out
        return np.multiply(rows, self.scale, out=out, dtype=out.dtype)

    def gather_targets(self, indices, dtype=np.float32):
        """The targets of a mini-batch, batch first, as losses take them: labels (n,) int64, or numbers (n, K) of the dtype."""
        if self.y is None or self.y.ndim == 1:
            return None if self.y is None else self.y[indices]
        rows = self.y[indices]
        return rows if rows.dtype.kind == "i" else rows.astype(dtype, copy=False)

    def replaced(self, **changes):
        """The same but for `changes`, which are known to be right: not checked again, which would read all arrays."""
        other = object.__new__(type(self))
        vars(other).update({**vars(self), **changes})
        return other

    def _is_sequence_of_labels(self):
        return self.tokens and self.y.shape == self.x.shape

    def _told(self):
        if self.y is None:
            return "no targets"
        if self.y.dtype.kind == "i" and self.y.ndim == 1 and len(self):
            return f"labels {self.y.min()}..{self.y.max()}"
        return f"targets {self.y.shape[1:]} {self.y.dtype}"


def batch_last(shape, count):
    """The inner shape of `count` samples of a user's shape: (H, W, C) -> (C, H, W, n), (D,) -> (D, n).

    >>> batch_last((28, 28, 1), 32), batch_last((784,), 32)
    ((1, 28, 28, 32), (784, 32))
    """
    return (*shape[-1:], *shape[:-1], count)


def _turned(rows, out=None):
    turned = np.ascontiguousarray(np.moveaxis(rows, 0, -1))
    if out is None:
        return turned
    out[...] = turned
    return out
