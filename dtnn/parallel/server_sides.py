"""What the two sides of a parameter server are, whoever waits for whom: the optimizer's state is the server's."""

import numpy as np

from .strategy import Exchange


class ServerSide(Exchange):
    """Keeps the optimizer's state, and tells it for a checkpoint, which needs it on every rank."""

    alike, servers = False, 1

    @property
    def equal(self):
        return self.strategy.staleness == 0

    def whole_state(self):
        for name in sorted(self.state):
            self.comm.Bcast(np.atleast_1d(np.asarray(self.state[name])))
        return self.state


class WorkerSide(Exchange):
    """Keeps no state of the optimizer's, and leaves updates to the server."""

    alike, servers, equal = False, 1, ServerSide.equal

    def begin_state(self):
        return {}

    def update(self, progress):
        self.trained[1][:] = 0

    def whole_state(self):
        """The server's, put into one of the same kind."""
        state = self.optimizer.state(self.parameters)
        for name in sorted(state):
            array = np.atleast_1d(np.asarray(state[name]))
            self.comm.Bcast(array)
            state[name] = array if np.ndim(state[name]) else array.item()
        return state

    def take(self, state):
        """It is the server's to keep."""
