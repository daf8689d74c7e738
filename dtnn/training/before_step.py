"""`BeforeStep`: what else than weights a step changes as it was, for steps that are taken back."""

import numpy as np


class BeforeStep:
    """Copies of a model's running statistics, which its forward moves, and how many steps it had made.

    The weights change last, so they need no copy; a strategy that goes back further has one of its own.

    Parameters
    ----------
    model : Model

    Examples
    --------
    >>> from dtnn import Model, nn
    >>> model = Model(nn.BatchNorm1d(), input_shape=(1,))
    >>> before = BeforeStep(model)
    >>> before.keep()
    >>> y, backward = model.net.forward(np.array([[3.0, np.inf]], np.float32))
    >>> before.restore()
    >>> {name: buffer.tolist() for name, buffer in model.parameters.buffers.items()}
    {'batchnorm1d_1.running_mean': [0.0], 'batchnorm1d_1.running_var': [1.0]}
    """

    def __init__(self, model):
        self.model, self.parameters, self.steps = model, model.parameters, model.steps
        self.kept = {name: np.copy(buffer) for name, buffer in self.parameters.buffers.items()}

    def keep(self):
        """All is as it should be: a step begins."""
        self.steps = self.model.steps
        for name, buffer in self.parameters.buffers.items():
            self.kept[name][...] = buffer

    def restore(self):
        """Put it back."""
        self.model.steps = self.steps
        for name, buffer in self.parameters.buffers.items():
            buffer[...] = self.kept[name]
