"""A data set: what to train on, what to test on, and how it is to be shown."""

import base64
import html
from numbers import Integral

import numpy as np

from ..allowed import listed, shown, whole
from .augment import changes
from .labels import labels
from .samples import Samples
from .strip import strip

MOST = 1 << 20  # classes: more than anybody tells apart


class Dataset:
    """Samples to train on and, if there are any, samples to test on; checked when made.

    Parameters
    ----------
    x_train, y_train : arrays
        Inputs, batch first ((N, H, W, C), (N, D), tokens (N, T)), and labels (N,) or numbers (N, K).
    x_test, y_test : arrays, optional
        The same for testing; both or neither.
    name : str
        For titles and messages.
    classes : int or sequence of str, optional
        The number of classes, or their names; labels are then checked against it.
    scale : float, optional
        Inputs are multiplied by it while a mini-batch is gathered; 1/255 for uint8, else 1, when not given.
    augment : sequence of functions
        Applied to mini-batches of the training samples, never in an evaluation: Flip(), Shift(4) ... of `dtnn.data.augment`.
    source : tuple (function, arguments), optional
        How to make the same data set elsewhere.  Pickled, it is then this call instead of the arrays.

    Raises
    ------
    ValueError, TypeError
        The message names the array, the value and its index, and says what to do.

    Examples
    --------
    >>> import numpy as np
    >>> data = Dataset(np.zeros((6, 8, 8, 1), np.uint8), [0, 1, 2, 0, 1, 2], name="blank", classes=3)
    >>> data
    Dataset blank: 3 classes, samples (8, 8, 1) uint8 x 1/255
      train  6 samples, 2 a class
    >>> len(data), data.input_shape, data.classes
    (6, (8, 8, 1), ('0', '1', '2'))
    """

    def __init__(
        self, x_train, y_train, x_test=None, y_test=None, name="data", classes=None, scale=None, augment=(), source=None
    ):
        if (x_test is None) != (y_test is None):
            missing = "x_test" if x_test is None else "y_test"
            raise ValueError(f"{missing} is None, but its partner is given: pass both x_test and y_test, or neither")
        if not isinstance(name, str):
            raise TypeError(f'name={shown(name)}: give text, such as "digits"')
        self.name, self.source, self.classes = name, source, _names(classes)
        self.train = self._checked(Samples(x_train, y_train, scale, "_train", augment))
        self.test = None if x_test is None else self._checked(Samples(x_test, y_test, scale, "_test"))
        self._check_parts()

    x_train = property(lambda self: self.train.x)
    y_train = property(lambda self: self.train.y)
    x_test = property(lambda self: self.test and self.test.x)
    y_test = property(lambda self: self.test and self.test.y)
    input_shape = property(
        lambda self: self.train.input_shape, doc="Shape of one sample as the user writes it, such as (28, 28, 1)."
    )
    scale = property(lambda self: self.train.scale, doc="What inputs are multiplied by while gathered.")

    def __len__(self):
        return len(self.train)

    def __reduce__(self):
        return self.source or (_restored, (vars(self),))

    def __repr__(self):
        return "\n".join([self._title(), *(f"  {name:<5}  {len(part):,} samples{_told(part)}" for name, part in self._parts())])

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{name}</td><td>{len(part):,}</td><td>{_told(part)[2:]}</td></tr>" for name, part in self._parts()
        )
        table = f"<table><tr><th>part</th><th>samples</th><th>targets</th></tr>{rows}</table>"
        return f"<b>{html.escape(self._title())}</b>{table}{self._pictures()}"

    def _pictures(self):
        """The first image of each of the first ten classes."""
        x, y = self.x_train, self.y_train
        if not self.classes or x.ndim != 4 or x.shape[3] not in (1, 3):
            return ""
        seen = [k for k in range(min(10, len(self.classes))) if (y == k).any()]
        png = base64.b64encode(strip(x[[int(np.argmax(y == k)) for k in seen]])).decode()
        names = html.escape(", ".join(self.classes[k] for k in seen))
        style = f"height:{min(64, 2 * x.shape[1])}px;max-width:100%;image-rendering:pixelated"
        return f'<img src="data:image/png;base64,{png}" alt="one sample of each class: {names}" title="{names}" style="{style}">'

    def _parts(self):
        return [(name, part) for name, part in (("train", self.train), ("test", self.test)) if part is not None]

    def _title(self):
        classes = f"{len(self.classes)} classes, " if self.classes else ""
        scale = "" if self.scale == 1 else " x 1/255" if self.scale == 1 / 255 else f" x {self.scale:g}"
        return f"Dataset {self.name}: {classes}samples {self.input_shape} {self.train.x.dtype}{scale}"

    def _checked(self, part):
        if part.y is None:
            raise ValueError(
                f"y{part.part} is None: a data set needs targets; to predict, pass the inputs alone to model.predict"
            )
        return part.replaced(y=labels(part.y, len(self.classes), f"y{part.part}")) if self.classes else part

    def read_only(self):
        """This data set, its arrays protected: for sets that all callers share, and that pickle as a call."""
        for _, part in self._parts():
            part.x.flags.writeable = part.y.flags.writeable = False
        return self

    def augmented(self, *augment):
        """The same data set, its training images changed anew in each step: ``mnist5k().augmented(Shift(2))``."""
        other = _restored({**vars(self), "train": self.train.replaced(augment=changes(augment, self.x_train))})
        other.source = self.source and (_augmented, (self.source, augment))
        return other

    def _check_parts(self):
        if self.test is None:
            return
        train, test = self.train.x, self.test.x
        if train.dtype != test.dtype:
            raise TypeError(
                f"x_train is {train.dtype}, x_test is {test.dtype}: the two would be scaled differently. "
                f"Convert one of them: x_test.astype(x_train.dtype)"
            )
        if train.shape[1:] != test.shape[1:]:
            raise ValueError(
                f"x_train has samples of shape {train.shape[1:]}, x_test of {test.shape[1:]}: crop, pad or reshape one of them"
            )


def _names(classes):
    """The names of the classes, or None where nothing is known of them."""
    if classes is None:
        return None
    if isinstance(classes, Integral):
        return tuple(map(str, range(whole("classes", classes, 1, MOST))))
    return tuple(map(str, listed("classes", classes, "names, or give the number of classes")))


def _restored(values):
    data = object.__new__(Dataset)
    vars(data).update(values)
    return data


def _augmented(source, changes):
    function, arguments = source
    return function(*arguments).augmented(*changes)


def _told(part):
    if part.y.dtype.kind != "i" or part.y.ndim > 1:
        return f", targets {part.y.shape[1:]} {part.y.dtype}"
    few, many = (counts := np.unique(part.y, return_counts=True)[1]).min(), counts.max()
    return f", {few} a class" if few == many else f", {few} to {many} a class"
