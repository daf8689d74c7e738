"""What a run has told so far, kept in the few columns that pictures need."""

import math
import operator
from collections import deque

from .. import records as r
from .bins import Bins
from .given import records_of
from .palette import COMMUNICATION, OWN

MEASURED = ("data", "forward", "backward", "pack", "wait", "transfer", "update")
COUNTED = ("seconds", "steps", "samples", "bytes", "hidden")
NOW = 2.0  # seconds that count as now
FEW = 512  # ledgers of a rank that are kept for them
measured_of, counted_of = operator.attrgetter(*MEASURED), operator.attrgetter(*COUNTED)


class Story:
    """Reads records, each only once, and answers what pictures ask.

    Parameters
    ----------
    records : list of records, or Run, optional
        What there is to read already.

    Attributes
    ----------
    start, finish, note, step : Start, Finish, Note, Step or None
        The newest of each; `first` is the first Step.
    pause : Paused or None
        The pause that goes on.
    phase : Phase or None
        The newest of the last step, or of the one that is under way.
    epochs : list of Epoch
    steps : Bins
        Loss against step number, in at most 512 means.
    time : dict
        For each rank the seconds of each phase, added up, and "seconds", "steps", "samples", "bytes", "hidden".
    newest : float
        Moment of the newest record (seconds since 1970), 0.0 before the first.

    Notes
    -----
    A record costs constant time and the memory is bounded (but for epochs), however long the run.

    Examples
    --------
    >>> from dtnn.records import Step
    >>> told = Story([Step(1, 1, 2.3, 64, 0.01, 0.5, 10.0), Step(2, 1, 2.1, 64, 0.01, 0.3, 10.4)])
    >>> told.steps.x, told.steps.y, round(told.rate)
    ([1.0, 2.0], [2.3, 2.1], 160)
    """

    def __init__(self, records=()):
        self._forget()
        self.read(records_of(records))

    def _forget(self):
        self.read_so_far = 0
        self.start = self.finish = self.note = self.step = self.first = self.pause = self.phase = None
        self.epochs, self.steps, self.time, self.newest = [], Bins(), {}, 0.0
        self._recent, self._ledgers = deque(maxlen=50), {}

    def read(self, records):
        """Take in what is new in a list that only grows; returns whether there was anything."""
        if len(records) < self.read_so_far:
            self._forget()
        fresh = records[self.read_so_far :] if self.read_so_far else records
        self.read_so_far += len(fresh)
        for record in fresh:
            self._take(record)
            self.newest = max(self.newest, getattr(record, "time", 0.0))
        return bool(fresh)

    def _take(self, record):
        kind = type(record)
        if kind is r.Step:  # of these and the next there are many
            self.step, self.first = record, self.first or record
            if self.phase is not None and record.step > self.phase.step:
                self.phase = None
            self.steps.add(record.step, record.loss)
            self._recent.append((record.samples, record.seconds))
        elif kind is r.Ledger:
            self._book(record)
        elif isinstance(record, r.Epoch):
            self.epochs.append(record)
        elif isinstance(record, r.Note):
            self.note = record
        elif isinstance(record, r.Phase):
            self.phase = record
        elif isinstance(record, r.Start):
            self.start, self.finish = record, None
        elif isinstance(record, r.Paused | r.Resumed):
            self.pause = record if isinstance(record, r.Paused) else None
        elif isinstance(record, r.Finish):
            self.finish, self.pause, self.phase = record, None, None

    def _book(self, ledger):
        _add(self.time, ledger)
        newest = self._ledgers.setdefault(ledger.rank, deque(maxlen=FEW))
        newest.append(ledger)
        while newest[0].time < ledger.time - NOW:
            newest.popleft()

    @property
    def now(self):
        """The same as `time`, of each rank's last `NOW` seconds."""
        found = {}
        for ledgers in self._ledgers.values():
            for ledger in ledgers:
                _add(found, ledger)
        return found

    @property
    def ranks(self):
        """How many ranks the run has; 0 where nobody said."""
        return self.start.ranks if self.start else len(self.time)

    @property
    def settings(self):
        """The run's settings, as its Start told them."""
        return self.start.settings if self.start else {}

    @property
    def rate(self):
        """Samples a second: over the last 50 steps, of a run that has ended over its epochs; None before the first step."""
        if self.finish and self.epochs:
            return sum(epoch.samples for epoch in self.epochs) / max(1e-9, sum(epoch.seconds for epoch in self.epochs))
        seconds = sum(seconds for _, seconds in self._recent)
        return sum(samples for samples, _ in self._recent) / seconds if seconds > 0 else None

    @property
    def steps_per_epoch(self):
        """Steps in an epoch as far as records tell; None where they don't."""
        if self.epochs and self.first and self.epochs[-1].epoch >= self.first.epoch:  # epoch 0 tells nothing of steps
            newest = self.epochs[-1]
            return max(1.0, (newest.step - self.first.step + 1) / (newest.epoch - self.first.epoch + 1))
        samples, batch_size = self.settings.get("samples"), self.settings.get("batch_size")
        return math.ceil(samples / batch_size) if samples and batch_size else None

    def epoch_of(self, step):
        """Where a step (a number, or an array of them) lies on the axis of epochs; the step itself while that isn't known."""
        per_epoch = self.steps_per_epoch
        if not per_epoch or self.first is None:
            return step
        return self.first.epoch - 1 + (step - self.first.step + 1) / per_epoch

    @property
    def progress(self):
        """Epochs done, with the fraction of the running one where that is known."""
        if self.step is None:
            return 0.0
        return self.epoch_of(self.step.step) if self.steps_per_epoch else float(self.step.epoch - 1)

    @property
    def metric(self):
        """The name of the metric to show beside the loss: accuracy, or else the first there is; None without one."""
        names = [name for name in (self.epochs[-1].metrics if self.epochs else ()) if not name.endswith("loss")]
        names = [name for name in names if not name.startswith("val_")]
        return "accuracy" if "accuracy" in names else names[0] if names else None

    def latest(self, name):
        """The newest value of an epoch's metric; None where there is none."""
        return next((e.metrics[name] for e in reversed(self.epochs) if e.metrics.get(name) is not None), None)

    def column(self, name):
        """Epoch numbers and values of a metric, where it was measured.

        Returns
        -------
        (list of int, list of float)
        """
        there = [epoch for epoch in self.epochs if epoch.metrics.get(name) is not None]
        return [epoch.epoch for epoch in there], [epoch.metrics[name] for epoch in there]


def _add(accounts, ledger):
    """Add a ledger to its rank's account."""
    account = accounts.get(ledger.rank)
    if account is None:
        account = accounts[ledger.rank] = dict.fromkeys((*OWN, *COMMUNICATION, *COUNTED), 0)
    measured = measured_of(ledger)
    account["other"] += max(0.0, ledger.seconds - sum(measured))
    for name, value in zip(MEASURED, measured):
        account[name] += value
    for name, value in zip(COUNTED, counted_of(ledger)):
        account[name] += value
