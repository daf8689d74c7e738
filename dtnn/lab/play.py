"""`Play`: a small training on ranks that are threads, which goes one step at a time, and whose gradients can be looked at."""

import threading

import numpy as np

from ..comm import group
from ..data import Dataset, batches, shares
from ..optim import SGD
from ..parallel import AllReduce
from .play_net import PlayNet
from .play_rank import PlayRank
from .thinned import Thinned

EIGHTS = PlayNet((8, 8))
PATIENCE = 30.0  # seconds that a step may take in which nothing is told


class Play:
    """Trains on points in the plane: the same `train` and the same strategies as everywhere, held after every step.

    Parameters
    ----------
    data : Dataset
        Rows (N, 2) of two classes.
    ranks, batch : int
        Threads, and samples a step over all of them.
    net : PlayNet
    lr : float
    strategy : Strategy
    seed : int

    Attributes
    ----------
    step : int
        Steps made.
    losses : Thinned
        Of the steps.
    first : ndarray (n,)
        The weights before the first step.
    path : Thinned or None
        The weights of a model that has two, of all ranks (ranks, 2), after each step.

    Examples
    --------
    >>> from dtnn.data import toy2d
    >>> play = Play(toy2d.circle(), ranks=3, batch=30)
    >>> play.forward(2)
    >>> play.step, len(play.losses.values), play.gradients.shape
    (2, 2, (3, 114))
    >>> play.close()
    """

    def __init__(self, data, ranks=4, batch=32, net=EIGHTS, lr=0.3, strategy=AllReduce(), seed=0):
        self.data, self.ranks, self.net, self.strategy, self.seed = data, ranks, net, strategy, seed
        self.batch = min(max(batch, ranks), len(data))
        self.step, self.losses, self.doing, self._closed, self._forward = 0, Thinned(), "", False, threading.Lock()
        self.inputs = net.inputs(data.train.x)
        model, rows = net.model(seed), Dataset(self.inputs, data.train.y, name=data.name, classes=2).train
        self._packed = np.concatenate([np.arange(part.start, part.start + part.size) for part in model.parameters.segments])
        told = dict(loss=net.loss, optimizer=SGD(lr), batch_size=self.batch, seed=seed)
        self.first = model.parameters.value[self._packed]
        self._ranks = [PlayRank(comm, model, rows, strategy, self._tell, told) for comm in group(ranks)]
        self.path = Thinned() if net.pair else None

    def forward(self, steps=1):
        """Make so many steps; fewer, if it is closed meanwhile.

        Raises
        ------
        Exception
            What a rank raised; the play is over then.
        """
        try:
            with self._forward:
                for _ in range(steps):
                    if self._closed:
                        break
                    self._make_step()
        finally:
            if self._closed:
                self._end()

    def _make_step(self):
        waits = [rank.next_step() for rank in self._ranks]
        for ready in waits:
            told = self.doing
            while not ready.wait(PATIENCE):
                if told == self.doing:
                    raise TimeoutError(f"a step has not ended after {PATIENCE:g} s")
                told = self.doing
        failed = [rank.error for rank in self._ranks if rank.error]
        if failed:
            raise min(failed, key=lambda error: type(error).__name__ == "RankFailed")  # the cause before its consequences
        self.step, self.doing = self.step + 1, ""
        self.losses.append(self._ranks[0].loss)
        if self.path is not None:
            self.path.append(self.weights())

    def _tell(self, text):
        """What a rank is doing when there is no step yet."""
        self.doing = text

    def close(self):
        """End the threads; who is in the middle of a step ends it first, and this does not wait for it."""
        self._closed = True
        if self._forward.acquire(blocking=False):
            self._forward.release()
            self._end()

    def _end(self):
        for rank in self._ranks:
            rank.end()

    # ---- looks

    servers = property(lambda self: self._ranks[0].servers, doc="So many ranks, the first ones, get no samples.")

    @property
    def gradients(self):
        """Each rank's part of the last step's gradient before the exchange, (ranks, n); their sum is that of the global batch."""
        return np.array([rank.before[self._packed] for rank in self._ranks])

    @property
    def used(self):
        """What rank 0 then updated with (rank 1, where rank 0 is a server), (n,)."""
        return self._ranks[self.servers].after[self._packed]

    @property
    def sent(self):
        """Bytes that a rank hands over in a step, the mean of all."""
        return sum(rank.comm.bytes - (rank.begun or 0) for rank in self._ranks) / self.ranks / max(1, self.step)

    @property
    def shares(self):
        """Which share of the last batch each rank had, (ranks,)."""
        return np.array([rank.share for rank in self._ranks])

    @property
    def asked_at(self):
        """The weights for which each rank's gradient is, (ranks, n)."""
        return np.array([rank.at[self._packed] for rank in self._ranks])

    def weights(self):
        """Each rank's weights, (ranks, n)."""
        return np.array([rank.model.parameters.value[self._packed] for rank in self._ranks])

    def mean_weights(self):
        """Of the replicas that are trained, (n,)."""
        return self.weights()[self.servers :].mean(0)

    def outputs(self, points, weights=None):
        """The probability of class 1 at each of the points (M, 2), of the mean of the replicas, or with those weights (K, n)."""
        inputs = self.net.inputs(points)
        return self.net.outputs(inputs, self.mean_weights()[None])[0] if weights is None else self.net.outputs(inputs, weights)

    def loss_at(self, weights):
        """The mean loss over all points, for each of the weights (K, n): (K,)."""
        return self.net.losses(self.inputs, self.data.train.y, weights)

    def owners(self):
        """For each sample the rank that trains on it in this epoch, and whether it is in the last step's batch."""
        per_epoch = -(-len(self.data) // self.batch)
        epoch, place = divmod(max(0, self.step - 1), per_epoch)
        owner, now = np.zeros(len(self.data), int), np.zeros(len(self.data), bool)
        for number, indices in enumerate(batches(len(self.data), self.batch, self.seed, epoch + 1)):
            for rank, (first, count) in enumerate(shares(len(indices), self.ranks - self.servers), self.servers):
                owner[indices[first : first + count]] = rank
            if number == place and self.step:
                now[indices] = True
        return owner, now
