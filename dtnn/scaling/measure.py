"""One measurement of a study: an epoch to warm up, an epoch that counts."""

import time
from dataclasses import dataclass

import numpy as np

from ..nn import cross_entropy
from ..plots.totals import totals
from ..records import Epoch, Ledger
from ..training import train


@dataclass(frozen=True)
class Measurement:
    """One repeat on one number of ranks.

    Parameters
    ----------
    ranks, repeat, batch_size : int
        `batch_size` is the global one.
    steps, samples : int
        How many were timed.
    seconds : float
        How long they took.
    time : dict of dict
        For each rank the seconds of each phase, see `dtnn.plots.totals`.
    moment : float
        When it ended (seconds since 1970).
    """

    ranks: int
    repeat: int
    batch_size: int
    steps: int
    samples: int
    seconds: float
    time: dict
    moment: float

    @property
    def throughput(self):
        """Samples a second."""
        return self.samples / self.seconds


def measure(cluster, model, rows, ranks, repeat, batch_size, steps, optimizer):
    """Train on `ranks` ranks of a cluster and note how long the second epoch takes; the first one warms up.

    Kernels are compiled before the first epoch, and nothing is evaluated.  The model stays as it is.

    Returns
    -------
    Measurement
    """
    run = cluster.run(timed_training, ranks, model, taken(rows, steps * batch_size), batch_size, optimizer)
    run.result()
    epoch = run.records.of(Epoch)[-1]
    counted = [record for record in run.records.of(Ledger) if record.step > steps]
    return Measurement(ranks, repeat, batch_size, steps, epoch.samples, epoch.seconds, totals(counted), time.time())


def timed_training(comm, ranks, model, rows, batch_size, optimizer):
    """The job: two epochs on the first `ranks` ranks; the others have nothing to do."""
    few = comm.Split(0 if comm.rank < ranks else None)
    if few is not None:
        yield from train(few, model, rows, loss=cross_entropy, metrics=(), optimizer=optimizer, epochs=2, batch_size=batch_size)
        few.Free()


def taken(rows, count):
    """Exactly `count` samples; from the beginning again where there are fewer."""
    return rows[np.arange(count) % len(rows)]
