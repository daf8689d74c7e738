"""`Present`: the model of a run that goes on, with the weights of this moment."""

import copy
import math
import time

from ..plots.pace import Pace

WAIT = 10.0  # seconds to wait for a step after which weights were asked for
LEAST = 3.0  # seconds between two looks that nobody has asked for
A_BYTE = 1.5e-9  # seconds that a rank takes for a byte of its weights
EARLIER = "The run has made no step yet: these are the weights from before it."
OTHER = "The run goes on with other layers than these; "


class Present:
    """Asks a run for its weights, and puts them into a copy of its model: the model itself gets them when the run has ended.

    Attributes
    ----------
    run : Run or None
        The one to ask.
    """

    def __init__(self):
        self.run = self._model = self._twin = None
        self._pace, self._due, self._seen = None, 0.0, 0

    def follow(self, run, model):
        """From now on it is this run, which trains this model."""
        self.run, self._model, self._twin = run, model, None
        self._pace, self._due, self._seen = Pace(run, math.inf, math.inf, eager=0.0), 0.0, -1

    @property
    def goes_on(self):
        """Whether there is a run that has not ended."""
        return self.run is not None and not self.run.done

    def of(self, model):
        """The model to look into, and words on how much it was trained; waits for the end of a step."""
        if not self.goes_on:
            return model, _age(model)
        if model is not self._model:
            return model, OTHER + _age(model)
        try:
            weights = self.run.weights(timeout=WAIT)
        except (TimeoutError, RuntimeError):
            if self.goes_on:
                return model, EARLIER
            return model, _age(model)  # it has just ended
        if self._twin is None:
            self._twin = copy.deepcopy(model)
        self._twin.load_state_dict(weights)
        return self._twin, f"after {weights.step:,} steps of the run that goes on"

    # ---- when to look again

    @property
    def due(self):
        """Whether something is new, and the last look so long ago that another one costs the training next to nothing."""
        if self.run is None or len(self.run.records) == self._seen:
            return False
        return self.run.done or time.monotonic() >= self._due

    def begin(self):
        """A look begins; returns what `ended` takes."""
        return self._pace.clock() if self._pace else 0.0

    def ended(self, began):
        """It has ended: another one is due in so long that the training loses about 2 % at most."""
        if self._pace is not None:
            cost = self._pace.clock() - began + A_BYTE * self._model.parameters.value.nbytes
            self._due, self._seen = time.monotonic() + self._pace.wait(cost, LEAST), len(self.run.records)


def _age(model):
    """How much the model was trained."""
    return f"after {model.steps:,} steps" if model.steps else "not trained yet: its first weights"
