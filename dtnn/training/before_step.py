"""`BeforeStep`: the running statistics as they were, for a step that is taken back."""

import numpy as np


class BeforeStep:
    """Copies of a network's running statistics, which its forward moves; the weights change last, and need none.

    Parameters
    ----------
    parameters : Parameters

    Examples
    --------
    >>> from dtnn import Model, nn
    >>> model = Model(nn.BatchNorm1d(), input_shape=(1,))
    >>> before = BeforeStep(model.parameters)
    >>> before.keep()
    >>> y, backward = model.net.forward(np.array([[3.0, np.inf]], np.float32))
    >>> before.restore()
    >>> {name: buffer.tolist() for name, buffer in model.parameters.buffers.items()}
    {'batchnorm1d_1.running_mean': [0.0], 'batchnorm1d_1.running_var': [1.0]}
    """

    def __init__(self, parameters):
        self.parameters = parameters
        self.kept = {name: np.copy(buffer) for name, buffer in parameters.buffers.items()}

    def keep(self):
        """They are as they should be: a step begins."""
        for name, buffer in self.parameters.buffers.items():
            self.kept[name][...] = buffer

    def restore(self):
        """Put them back."""
        for name, buffer in self.parameters.buffers.items():
            buffer[...] = self.kept[name]
