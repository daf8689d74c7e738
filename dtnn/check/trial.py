"""`Trial`: the same short training on one rank and on several."""

import numpy as np

from .. import nn
from ..comm import Serial, run_threads
from ..comm.collectives import WrongSum
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
        """The weights after a training, and the error that ended it early because ranks did not do the same, or None."""
        twin, differ = self.twin(comm.rank), None
        try:
            for _ in self.train(comm, twin, rows, metrics=(), **self.settings | settings):
                pass
        except (OutOfSync, WrongSum) as error:
            differ = error
        return twin.parameters.value.copy(), differ

    def moves(self):
        """Whether one rank changes its weights at all."""
        return bool(self.alone(4 * self.ranks, optimizer=self.optimizer).any())

    def alone(self, count, **settings):
        """By how much `count` samples change the weights on one rank."""
        settings = self._short(count) | settings
        weights, _ = self.trained(Serial(), self.rows[:count], **settings, strategy=AllReduce())
        return weights - self.twin().parameters.value

    def together(self, count, **settings):
        """The same on each of several, as rows, and the error that ended it, or None."""
        settings, begun = self._short(count) | settings, self.twin().parameters.value
        found = run_threads(lambda comm: self.trained(comm, self.rows[:count], **settings), self.ranks)
        return np.stack([weights - begun for weights, _ in found]), next(filter(None, (differ for _, differ in found)), None)

    @staticmethod
    def _short(count):
        return {"batch_size": count, "epochs": 1, "optimizer": SGD(0.01)}

    def distance(self, count, **settings):
        """From one rank's change to that of several which is farthest from it, in units of the first; and as `together`.

        Infinite where one rank learns nothing, for then there is nothing to compare, and where an error ended it.
        """
        alone, (together, differ) = self.alone(count, **settings), self.together(count, **settings)
        moved = np.linalg.norm(alone)
        if differ or not moved:
            return float("inf"), differ
        return float(np.linalg.norm(together - alone, axis=1).max() / moved), differ

    def on_ranks(self, job, count, rows=None):
        """What ``job(twin, x, targets, step)`` gives on one rank, and on each of several with its share of the samples."""
        rows = self.rows if rows is None else rows

        def shared(comm):
            first, own = shares(count, comm.size)[comm.rank]
            x, targets = rows.gather(np.arange(first, first + own), None, np.float64, (0, 1))
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
