"""What may go into a network: arrays of images, rows or tokens, checked once, before anything runs."""

import math
import warnings

import numpy as np

from ..allowed import shown

IRREGULAR = "{} is no regular array (dtype object): are the samples of different shapes? Crop or pad them to one"
ROWS_AT_ONCE = 1 << 22  # elements looked at together: small enough that the search for NaN needs no second data set's memory


def inputs(x, name="x"):
    """The inputs as dtnn keeps them: batch first, C-contiguous, uint8, float32 or (tokens) int32.

    Parameters
    ----------
    x : array-like, shape (N, ...)
        N samples: images (N, H, W, C), rows (N, D) or tokens (N, T).  uint8 and float32 are taken as they are (not
        copied where already contiguous), float64 is converted with one note, int32 and int64 are tokens.
    name : str
        What the user calls it, for messages.

    Returns
    -------
    ndarray
        The samples, of shape (N, ...).

    Raises
    ------
    TypeError
        The dtype is none of these; the message says how to convert.
    ValueError
        No samples, no batch axis, a value that is NaN or infinite (with the index of the first), a negative token.

    Examples
    --------
    >>> inputs([[0, 1], [2, 3]]).dtype
    dtype('int32')
    >>> import numpy as np
    >>> inputs(np.array([[0, 1], [2, np.nan]], np.float32))
    Traceback (most recent call last):
    ...
    ValueError: x[1, 1] is nan: inputs must be finite numbers. Remove such samples, or replace the values: np.nan_to_num(x)
    """
    if hasattr(x, "x_train") or hasattr(x, "gather_inputs"):
        raise TypeError(f"{name} is a {type(x).__name__}: here the inputs alone are wanted, an array, such as data.x_test")
    given, x = x, as_array(x, name)
    if x.ndim == 0:
        raise TypeError(f"{name}={shown(given)}: give an array of samples, the samples along the first axis")
    _check_shape(x, name)
    if x.dtype in (np.int32, np.int64):
        return _tokens(x, name)
    x = np.ascontiguousarray(_known_dtype(x, name))
    if x.dtype == np.float32:
        check_finite(x, name)
    return x


def check_inputs(x, input_shape, tokens=False, name="x"):
    """A ValueError or TypeError if the inputs don't suit a model that takes `input_shape`; it says how to make them."""
    have, want = x.shape[1:], tuple(input_shape)
    if x.dtype == np.int32 and not tokens:
        raise TypeError(
            f"{name} has whole numbers of 32 or 64 bits, which are tokens, "
            f"for a model that begins with Embedding; this one takes {want}. "
            f"Images of 0..255: {name}.astype(np.uint8); other numbers: {name}.astype(np.float32)"
        )
    if tokens and x.dtype != np.int32:
        raise TypeError(
            f"{name} has dtype {x.dtype}, but the model begins with Embedding, which takes tokens: {name}.astype(np.int32)"
        )
    check_any(x, name)
    if have != want:
        raise ValueError(f"{name} has samples of shape {have}, the model takes {want}: {_advice(have, want, x.shape, name)}")


def check_any(x, name):
    """A ValueError if there is no number in it."""
    if x.size == 0:
        raise ValueError(f"{name} is empty (shape {x.shape}): at least one sample is needed; check how it was selected")


def check_finite(x, name):
    """A ValueError if a value is NaN or infinite, naming the first one."""
    if is_finite(x):
        return
    step = max(1, ROWS_AT_ONCE * len(x) // max(1, x.size))
    for first in range(0, len(x), step):
        good = np.isfinite(x[first : first + step])
        if not good.all():
            place = np.argwhere(~good)[0]
            index, what = (first + int(place[0]), *map(int, place[1:])), "targets" if name.startswith("y") else "inputs"
            raise ValueError(
                f"{name}[{', '.join(map(str, index))}] is {x[index]}: {what} must be finite numbers. "
                f"Remove such samples, or replace the values: np.nan_to_num({name})"
            )


def is_finite(x):
    """True only if all values are finite, for no term of a finite sum of squares is not; it may overflow, so False says nothing.

    One pass at the speed of memory, and no array of booleans.
    """
    return math.isfinite(np.vdot(x, x))


def as_array(x, name):
    """As a NumPy array; a TypeError where it is none, for samples of different shapes make none."""
    try:
        return np.asarray(x)
    except ValueError:
        raise TypeError(IRREGULAR.format(name)) from None


def _check_shape(x, name):
    if x.dtype == object:
        raise TypeError(IRREGULAR.format(name))
    if x.ndim < 2:
        raise ValueError(
            f"{name} has shape {x.shape}: a batch of samples is needed, the samples along the first axis. "
            f"One feature a sample: {name}.reshape(-1, 1); one sample of many: {name}.reshape(1, -1)"
        )
    check_any(x, name)


def _known_dtype(x, name):
    if x.dtype in (np.uint8, np.float32):
        return x
    if x.dtype == np.float64:
        warnings.warn(
            f"{name} is float64 and was converted to float32, in which dtnn computes; "
            f"{name}.astype(np.float32) does it once and for all",
            UserWarning,
            stacklevel=4,
        )
        with np.errstate(over="ignore"):  # what is too large becomes inf, and is refused with its index
            return x.astype(np.float32)
    raise TypeError(
        f"{name} has dtype {x.dtype}, which could mean several things. Images of 0..255: {name}.astype(np.uint8) "
        f"(scaled to 0..1 while training); other numbers: {name}.astype(np.float32); tokens: {name}.astype(np.int32)"
    )


def _tokens(x, name):
    for bad in (x < 0, x > np.iinfo(np.int32).max):
        if bad.any():
            index = tuple(map(int, np.argwhere(bad)[0]))
            raise ValueError(
                f"{name}[{', '.join(map(str, index))}] is {x[index]}: "
                f"whole numbers (dtype {x.dtype}) are tokens, from 0 to 2147483647. "
                f"If they are no tokens: {name}.astype(np.float32)"
            )
    return np.ascontiguousarray(x, dtype=np.int32)


def _advice(have, want, shape, name):
    if shape == want or (*shape, 1) == want:
        return f"if {name} is a single sample, add the batch axis: {name}[np.newaxis]"
    if (*have, 1) == want:
        return f"add the axis of the channels: {name}[..., np.newaxis]"
    if len(have) == len(want) == 3 and (have[1], have[2], have[0]) == want:
        return f"put the channels last: {name}.transpose(0, 2, 3, 1)"
    if np.prod(have) == np.prod(want):
        return f"{name}.reshape(-1, {', '.join(map(str, want))})"
    return f"give the model input_shape={have}, or crop, pad or resize the samples"
