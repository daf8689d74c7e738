"""A small training on ranks that are threads, which goes one step at a time, and whose gradients can be looked at."""

import pickle
import threading

import numpy as np

from ..comm import group
from ..data import batches, shares
from ..model import Model
from ..nn import Linear, Tanh
from ..optim import SGD
from ..parallel import AllReduce
from ..records import Step
from ..training import train

PATIENCE = 30.0  # seconds that a step may take; the first one may compile
EPOCHS = 10**6


class Play:
    """Trains on points in the plane: the same `train` and the same strategies as everywhere, held after every step.

    Parameters
    ----------
    data : Dataset
        Rows (N, 2) of two classes.
    ranks, batch : int
        Threads, and samples a step over all of them.
    hidden : sequence of int
        Sizes of the layers between.
    lr : float
    strategy : Strategy
    seed : int

    Attributes
    ----------
    step : int
        Steps made.
    losses : list of float
        Of each step.
    gradients : ndarray (ranks, n)
        Each rank's part of the last step's gradient, before the exchange; their sum is the gradient of the global batch.
    used : ndarray (n,)
        What rank 0 then updated with (rank 1, where rank 0 is a server).

    Examples
    --------
    >>> from dtnn.data import toy2d
    >>> play = Play(toy2d.circle(), ranks=3, batch=30)
    >>> play.forward(2)
    >>> play.step, len(play.losses), play.gradients.shape[0]
    (2, 2, 3)
    >>> play.close()
    """

    def __init__(self, data, ranks=4, batch=32, hidden=(8, 8), lr=0.3, strategy=AllReduce(), seed=0):
        self.data, self.ranks, self.strategy, self.seed = data, ranks, strategy, seed
        self.batch = min(max(batch, ranks), len(data))
        layers = [layer for size in hidden for layer in (Linear(size), Tanh())]
        self.model = Model(*layers, Linear(2), input_shape=(2,), seed=seed)
        self.step, self.losses, self._closed = 0, [], False
        self._ranks = [_Rank(comm, self, SGD(lr)) for comm in group(ranks)]

    def forward(self, steps=1):
        """Make so many steps.

        Raises
        ------
        Exception
            What a rank raised; the play is over then.
        """
        for _ in range(steps):
            told = [rank.next_step() for rank in self._ranks]
            for ready in told:
                if not ready.wait(PATIENCE):
                    raise TimeoutError(f"a step has not ended after {PATIENCE:g} s")
            failed = [rank.error for rank in self._ranks if rank.error]
            if failed:
                raise min(failed, key=lambda error: type(error).__name__ == "RankFailed")  # the cause before its consequences
            self.step += 1
            self.losses.append(self._ranks[0].loss)

    def close(self):
        """End the threads."""
        self._closed = True
        for rank in self._ranks:
            rank.go.set()

    # ---- looks

    gradients = property(lambda self: np.array([rank.before for rank in self._ranks]))
    used = property(lambda self: self._ranks[self.servers].after)
    servers = property(lambda self: self._ranks[0].servers, doc="So many ranks, the first ones, get no samples.")

    def weights(self):
        """Each rank's weights, (ranks, n)."""
        return np.array([rank.model.parameters.value for rank in self._ranks])

    def outputs(self, points, weights=None):
        """The probability of class 1 at each of the points (M, 2), of the mean of the replicas, or with those weights."""
        self.model.parameters.value[:] = self.weights()[self.servers :].mean(0) if weights is None else weights
        logits = self.model.predict(np.ascontiguousarray(points, np.float32), batch_size=4096)
        return 1 / (1 + np.exp(np.clip(logits[:, 0] - logits[:, 1], -60, 60)))

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


class _Rank:
    """One rank's thread: waits until it is told to make a step."""

    def __init__(self, comm, play, optimizer):
        self.comm, self.play, self.model = comm, play, pickle.loads(pickle.dumps(play.model))
        self.go, self.ready, self.loss, self.error, self.servers = threading.Event(), threading.Event(), None, None, 0
        self.before = self.after = np.zeros(self.model.parameters.trainable, np.float32)
        told = dict(optimizer=optimizer, batch_size=play.batch, seed=play.seed, epochs=EPOCHS, metrics=())
        self.records = train(comm, self.model, play.data.train, strategy=_Watched(play.strategy, self), **told)
        threading.Thread(target=self._work, daemon=True, name=f"rank {comm.rank} of a playground").start()

    def next_step(self):
        """Begin a step; what is returned is set when it is over."""
        self.ready.clear()
        self.go.set()
        return self.ready

    def _work(self):
        try:
            while True:
                self.go.wait()
                self.go.clear()
                if self.play._closed:
                    return
                self.loss = next(record.loss for record in self.records if isinstance(record, Step))
                self.ready.set()
        except BaseException as error:
            self.error = error
            self.comm.fail(repr(error))
        finally:
            self.comm.leave()
            self.ready.set()


class _Watched:
    """A strategy whose gradients are looked at before and after they are exchanged."""

    def __init__(self, strategy, rank):
        self.strategy, self.rank = strategy, rank

    def __repr__(self):
        return repr(self.strategy)

    def begin(self, comm, parameters, optimizer):
        exchange = self.strategy.begin(comm, parameters, optimizer)
        combine, rank = exchange.combine, self.rank
        rank.servers = exchange.servers

        def watched(tail, count, total, progress):
            rank.before = parameters.grad[: parameters.trainable].copy()
            handed = combine(tail, count, total, progress)
            rank.after = parameters.grad[: parameters.trainable].copy()
            return handed

        exchange.combine = watched
        return exchange


def in_plane(vectors, total):
    """Vectors in the plane of their sum and of what deviates most from it: (len, 2), the sum along the first axis.

    Parameters
    ----------
    vectors : ndarray (P, n)
    total : ndarray (n,)

    Returns
    -------
    ndarray (P, 2)

    Examples
    --------
    >>> in_plane(np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([2.0, 0.0])).tolist()
    [[1.0, 1.0], [1.0, -1.0]]
    """
    vectors, total = np.asarray(vectors, np.float64), np.asarray(total, np.float64)
    length = np.linalg.norm(total)
    first = total / length if length else np.zeros_like(total)
    across = vectors - np.outer(vectors @ first, first)
    sizes = np.linalg.norm(across, axis=1)
    largest = across[int(np.argmax(sizes))]
    second = largest / sizes.max() if sizes.max() > 1e-12 else np.zeros_like(total)
    return np.stack([vectors @ first, vectors @ second], axis=1)
