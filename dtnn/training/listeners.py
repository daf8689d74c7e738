"""Callbacks that are often wanted: save, stop early, stop at a value."""

import math
import os
import warnings
from dataclasses import dataclass, field

from ..allowed import number, path, shown, whole
from ..nn.metrics.direction import less_is_better
from ..records import Epoch, Stop


@dataclass
class EarlyStopping:
    """Stop when a metric has not become better for `patience` epochs.

    Parameters
    ----------
    monitor : str
        Name of the metric; of losses and errors less is better, of everything else more.
    patience : int
        Epochs without an improvement that are borne.
    min_delta : float
        What counts as an improvement at least.

    Raises
    ------
    ValueError
        A setting is of no use; or, at the first epoch, there is no such metric: names those that there are.

    Examples
    --------
    >>> stop = EarlyStopping("val_loss", patience=2)
    >>> told = [Epoch(n, n, 1, 1.0, 0.1, {"val_loss": loss}, 0.0) for n, loss in enumerate([3.0, 2.0, 2.5, 2.2], 1)]
    >>> [stop(record) for record in told][2:]
    [None, Stop(text='val_loss has not improved on 2 for 2 epochs')]
    """

    monitor: str = "val_loss"
    patience: int = 3
    min_delta: float = 0.0
    best: float = field(default=math.inf, init=False)
    waited: int = field(default=0, init=False)

    def __post_init__(self):
        name("EarlyStopping: monitor", self.monitor)
        whole("EarlyStopping: patience", self.patience, 1)
        number("EarlyStopping: min_delta", self.min_delta, "a number of at least 0, such as 0.001", lambda x: 0 <= x < math.inf)

    def __call__(self, record):
        if not isinstance(record, Epoch) or record.samples == 0:
            return None
        if record.epoch == 1:
            self.best, self.waited = math.inf, 0
        value = sign(self.monitor) * monitored(record, self.monitor)
        if value < self.best - self.min_delta:  # never true of NaN
            self.best, self.waited = value, 0
            return None
        self.waited += 1
        if self.waited < self.patience:
            return None
        best = sign(self.monitor) * self.best
        return Stop(f"{self.monitor} has not improved on {best:.4g} for {self.patience} epochs")


@dataclass(frozen=True)
class StopAt:
    """Stop when a metric has reached a value.

    Examples
    --------
    >>> StopAt("accuracy", 0.9)(Epoch(1, 1, 1, 1.0, 0.1, {"accuracy": 0.95}, 0.0))
    Stop(text='accuracy reached 0.9')
    """

    monitor: str
    value: float

    def __post_init__(self):
        name("StopAt: monitor", self.monitor)
        number("StopAt: value", self.value, "a number, such as 0.99", lambda value: not math.isnan(value))

    def __call__(self, record):
        if isinstance(record, Epoch) and sign(self.monitor) * (monitored(record, self.monitor) - self.value) <= 0:
            return Stop(f"{self.monitor} reached {self.value:.4g}")
        return None


@dataclass
class Save:
    """Save the model, with all that is needed to resume, at the end of epochs.

    On a cluster rank 0's process writes; a relative path is the client's as long as both share the file system.

    Parameters
    ----------
    path : path
        The file; each save replaces the last one, whole or not at all.
    every : int
        Epochs between two saves.
    best : str, optional
        A metric: save only when it is better than at the last save.
    on_error : str
        What to do when it can't be written, because the disk is full, say; a file of an earlier save is then still whole.
        "raise": the training fails at once; "stop": it stops, and the weights come back; "go on": it warns, and goes on.

    Raises
    ------
    FileNotFoundError
        There is no such folder.
    OSError
        While it trains: the file can't be written, and `on_error` is "raise".

    Examples
    --------
    >>> import dtnn, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save = Save(os.path.join(folder, "digits.npz"))
    ...     _ = dtnn.zoo.mlp().fit(dtnn.data.mnist5k(), batch_size=1000, callbacks=[save], show=False)
    ...     dtnn.load(save.path).steps
    4
    """

    path: str
    every: int = 1
    best: str | None = None
    on_error: str = "raise"
    value: float = field(default=math.inf, init=False)

    def __post_init__(self):
        self.path = os.path.abspath(path("Save: path", self.path))  # here: an engine works elsewhere
        folder = os.path.dirname(self.path)
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"Save: there is no folder {folder}; make it first")
        if os.path.isdir(self.path):
            raise IsADirectoryError(f"Save: {self.path} is a folder; give the name of a file in it")
        whole("Save: every", self.every, 1)
        if self.best is not None:
            name("Save: best", self.best)
        if self.on_error not in ("raise", "stop", "go on"):
            raise ValueError(f'Save: on_error={self.on_error!r} is not known; give "raise", "stop" or "go on"')

    def __call__(self, record, model):
        if not isinstance(record, Epoch) or record.samples == 0 or record.epoch % self.every:
            return None
        if record.epoch <= self.every:
            self.value = math.inf  # a new training
        value = None if self.best is None else sign(self.best) * monitored(record, self.best)
        if value is not None and not value < self.value:  # NaN is not better
            return None
        try:
            model.save(self.path)
        except OSError as error:
            return self._failed(error, record.epoch)
        self.value = self.value if value is None else value
        return None

    def _failed(self, error, epoch):
        if self.on_error == "raise":
            raise error
        text = f"epoch {epoch} could not be saved: {error.strerror or error}"
        if self.on_error == "stop":
            return Stop(text)
        warnings.warn(f"{text}; the training goes on", RuntimeWarning, stacklevel=2)
        return None


def name(what, value):
    """Raise a `TypeError` unless it is the name of a metric."""
    if not isinstance(value, str):
        raise TypeError(f'{what}={shown(value)}: give the name of a metric, such as "val_loss"')


def monitored(record, name):
    """The metric of an epoch."""
    if name not in record.metrics:
        raise ValueError(f"there is no metric {name!r} to watch; there are {', '.join(record.metrics)}")
    return record.metrics[name]


def sign(name):
    """1 where less is better, as of losses and errors, -1 where more is.

    >>> sign("val_loss"), sign("val_f1")
    (1, -1)
    """
    return 1 if less_is_better(name) else -1
