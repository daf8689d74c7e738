"""`Rescue`: what a run has trained so far, for when it has to be ended in the middle of a step."""

import time

from ..cluster.weights import newest
from ..commands import ShowWeights

LEAST = 5.0  # seconds between two times that weights are asked for
A_BYTE = 1e-8  # seconds that a rank and the notebook take for a byte of its weights
SHARE = 0.005  # of their time, at most, that this may take
ALL = ShowWeights("", 0)


class Rescue:
    """Asks a run for its weights now and then, so that little is lost when it is interrupted; nobody waits for them.

    A run that ends as it should hands over its weights itself.

    Attributes
    ----------
    step : int
        After so many steps the model has been left; 0 if nothing could be kept.
    """

    def __init__(self, run, model):
        self.run, self.model, self.step = run, model, 0
        self._every = max(LEAST, A_BYTE * model.parameters.value.nbytes / SHARE)
        self._due = time.monotonic() + self._every

    def tick(self):
        """Ask again, if that is due; called often while the run goes on."""
        if self.run.state == "running" and time.monotonic() >= self._due:
            self._due = time.monotonic() + self._every
            self.run.send(ALL)

    def end(self):
        """The run has ended: what was kept of it is its model's, if it could not hand over its weights itself; else forgotten."""
        told = newest(self.run)
        self.run.snapshots.clear()  # a run that is kept, to be compared, is not as large as its model
        if self.run.state != "interrupted" or self.run.results[0] is not None or told is None:
            return
        self.model.load_state_dict(told)
        self.step = self.model.steps = told.step
        self.model.training = None  # the optimizer's state was lost: there is nothing to go on from as if nothing had been
