"""`Trial`: the same short training on one rank and on several."""

import numpy as np

from .. import nn
from ..comm import Serial, run_threads
from ..data import shares
from ..model import Model
from ..optim import SGD
from ..parallel import AllReduce, OutOfSync


class Trial:
    """The same short training on one rank and on several."""

    def __init__(self, model, rows, ranks, train, optimizer, settings):
        self.model, self.rows, self.ranks, self.train, self.settings = model, rows, ranks, train, settings
        self.optimizer = optimizer

    def twin(self, rank=0):
        """A copy in float64; that of another rank than 0 begins with other weights, which must not matter."""
        model = self.model
        twin = Model(*model.layers, input_shape=model.input_shape, seed=model.seed, dtype="float64")
        for segment in twin.parameters.segments:
            twin.parameters.value[segment.start : segment.start + segment.size] += 0.01 * rank
        return twin

    def trained(self, comm, rows, **settings):
        """The weights after a training."""
        twin = self.twin(comm.rank)
        for _ in self.train(comm, twin, rows, metrics=(), **self.settings | settings):
            pass
        return twin.parameters.value.copy()

    def moves(self):
        """Whether one rank changes its weights at all."""
        rows = self.rows[: 4 * self.ranks]
        weights = self.trained(Serial(), rows, batch_size=len(rows), epochs=1, optimizer=self.optimizer, strategy=AllReduce())
        return bool((weights != self.twin().parameters.value).any())

    def changes(self, count, **settings):
        """By how much `count` samples change the weights, on one rank and on that of several which is farthest from it."""
        begun, rows = self.twin().parameters.value, self.rows[:count]
        settings = {"batch_size": count, "epochs": 1, "optimizer": SGD(0.01)} | settings
        alone = self.trained(Serial(), rows, **settings, strategy=AllReduce())
        together = run_threads(lambda comm: self.trained(comm, rows, **settings), self.ranks)
        farthest = max(together, key=lambda weights: np.linalg.norm(weights - alone))
        return alone - begun, farthest - begun

    def distance(self, count, **settings):
        """Between these, in units of the first; infinite where one rank learns nothing, for then there is nothing to compare."""
        try:
            alone, together = self.changes(count, **settings)
        except OutOfSync:
            return float("inf")
        moved = np.linalg.norm(alone)
        return float(np.linalg.norm(together - alone) / moved) if moved else float("inf")

    def on_ranks(self, job, count):
        """What ``job(comm, twin, x, targets, step)`` gives on one rank, and on each of several with its share of the samples."""

        def shared(comm):
            first, own = shares(count, comm.size)[comm.rank]
            x, targets = self.rows.gather(np.arange(first, first + own), None, np.float64, (0, 1))
            step = nn.Pass(self.settings["seed"])
            step.begin(1, first, own, count, x=x, sum_over_ranks=comm.Allreduce)
            return job(self.twin(), x, targets, step)

        return shared(Serial()), run_threads(shared, self.ranks)


class Noting:
    """Samples that note which of them are used."""

    def __init__(self, rows):
        self.rows, self.used = rows, []

    def __len__(self):
        return len(self.rows)

    def __getattr__(self, name):
        return getattr(self.rows, name)

    def gather(self, indices, *args, **kwargs):
        self.used.extend(np.asarray(indices).tolist())
        return self.rows.gather(indices, *args, **kwargs)
