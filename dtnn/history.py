"""How a training went, epoch by epoch, in Keras's words."""

from .allowed import listed
from .records import Epoch, Finish, Recorder


class Columns(dict):
    """A dict that says what there is, if asked for something else.

    >>> Columns(loss=[0.5])["los"]
    Traceback (most recent call last):
    KeyError: "there is no 'los'; there are loss"
    """

    def __missing__(self, name):
        raise KeyError(f"there is no {name!r}; there are {', '.join(self)}")


class History:
    """The epochs of a run: what `Model.fit` returns.

    Parameters
    ----------
    records : iterable of records
        What the run told; the epochs among them make the history.

    Attributes
    ----------
    epoch : list of int
        The epochs, counted from 1; the first is 0 with `fit(evaluate_first=True)`.
    history : dict of str to list
        One value an epoch of each metric (``loss``, ``accuracy``, ``val_loss`` ...), of ``lr``, ``seconds`` and ``samples``.
        Of the training rows it is the mean over the epoch's steps, each before its update; of the validation rows, that at the
        end of the epoch.
    records : Recorder
        All the records, for `dtnn.plots`.

    Examples
    --------
    >>> history = History([Epoch(epoch=1, step=125, samples=4000, seconds=2.0, lr=0.1, metrics={"loss": 0.5}, time=0.0)])
    >>> history.history["loss"]
    [0.5]
    """

    def __init__(self, records):
        self.records = Recorder(listed("records", records, "records, such as run.records"))
        epochs = self.records.of(Epoch)
        self.epoch = [record.epoch for record in epochs]
        names = list(dict.fromkeys(name for record in epochs for name in record.metrics))
        self.history = Columns()
        self.history |= {name: [record.metrics.get(name) for record in epochs] for name in names}
        for name in ("lr", "seconds", "samples"):
            self.history[name] = [getattr(record, name) for record in epochs]

    @property
    def reason(self):
        """Why the training ended: "done", "stopped", "interrupted", "failed", or None while it goes on."""
        last = self.records.last(Finish)
        return last.reason if last else None

    def explain(self):
        """Where the time went, in words, and one thing to try; prints, and shows in a notebook."""
        from .explain import explain

        return explain(self.records)

    def timeline(self):
        """The steps that were looked at closely: a picture of one, columns, files; see `dtnn.plots.Timeline`."""
        from .plots import Timeline

        return Timeline(self.records)

    def __getattr__(self, name):
        hint = f": history.history[{name!r}] has one value an epoch" if name in vars(self).get("history", ()) else ""
        hint = ": dtnn.plots.curves(history) draws it" if name in ("plot", "show") else hint
        raise AttributeError(f"a History has no {name!r}{hint}")

    def __len__(self):
        return len(self.epoch)

    def __repr__(self):
        if not self.epoch:
            return "History(no epoch finished yet)"
        last = ", ".join(f"{name}={values[-1]:.4g}" for name, values in self.history.items() if values[-1] is not None)
        return f"History({len(self)} epoch{'s' * (len(self) != 1)}; last: {last})"
