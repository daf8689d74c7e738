"""`PlayRank`: a rank of a playground, a thread that trains one step whenever it is told to."""

import pickle
import threading

import numpy as np

from ..parallel import ParameterServer
from ..records import Note, Step
from ..training import train

EPOCHS = 10**6


class PlayRank:
    """Waits until it is told to make a step, and keeps what its gradient was.

    Parameters
    ----------
    comm : Communicator
    model : Model
        It trains a copy of it.
    rows : Samples
    strategy : Strategy
    tell : callable
        Gets what it does before the first step, in words.
    told : dict
        Of `train`.

    Attributes
    ----------
    before, after : ndarray
        The last step's gradient before the exchange and after it.
    at : ndarray
        The weights that it was computed with.
    share : float
        Of the batch.
    servers : int
        So many ranks of all get no samples.
    begun : int
        Bytes that it had handed over before the first step's exchange.
    """

    def __init__(self, comm, model, rows, strategy, tell, told):
        self.comm, self.model, self.tell = comm, pickle.loads(pickle.dumps(model)), tell
        self._go, self._ready, self._ended = threading.Event(), threading.Event(), False
        self.loss, self.error, self.servers, self.share = None, None, int(isinstance(strategy, ParameterServer)), 0.0
        self.begun, self.at = None, self.model.parameters.value.copy()
        self.before = self.after = np.zeros(self.model.parameters.trainable, np.float32)
        self.records = train(comm, self.model, rows, strategy=_Watched(strategy, self), epochs=EPOCHS, metrics=(), **told)
        threading.Thread(target=self._work, daemon=True, name=f"rank {comm.rank} of a playground").start()

    def next_step(self):
        """Begin a step; what is returned is set when it is over."""
        if self.error is None:
            self._ready.clear()
            self._go.set()
        return self._ready

    def end(self):
        """End the thread, which is not in a step."""
        self._ended = True
        self._go.set()

    def _work(self):
        try:
            while True:
                self._go.wait()
                self._go.clear()
                if self._ended:
                    return
                self.loss = self._step()
                self._ready.set()
        except BaseException as error:
            self.error = error
            self.comm.fail(repr(error))
        finally:
            self.comm.leave()
            self._ready.set()

    def _step(self):
        """Go on to the end of the next step; its loss."""
        for record in self.records:
            if isinstance(record, Step):
                return record.loss
            if isinstance(record, Note):
                self.tell(record.text)
        raise RuntimeError(f"the training has ended after {EPOCHS:,} epochs")


class _Watched:
    """A strategy whose gradients are looked at before and after they are exchanged."""

    def __init__(self, strategy, rank):
        self.strategy, self.rank = strategy, rank

    def __repr__(self):
        return repr(self.strategy)

    def begin(self, comm, parameters, optimizer):
        exchange = self.strategy.begin(comm, parameters, optimizer)
        combine, rank = exchange.combine, self.rank
        exchange.meets = lambda progress: True  # each step is to be told at once, of strategies too that seldom do
        rank.servers = exchange.servers

        def watched(tail, count, total, progress):
            rank.begun = comm.bytes if rank.begun is None else rank.begun
            rank.at, rank.share = parameters.value.copy(), count / total
            rank.before = parameters.grad[: parameters.trainable].copy()
            handed = combine(tail, count, total, progress)
            rank.after = parameters.grad[: parameters.trainable].copy()
            return handed

        exchange.combine = watched
        return exchange
