"""`Inputs`: where the mini-batches of one size lie, one after the other."""

import numpy as np

from ..data import Samples, batch_last
from ..kernels.aligned import aligned
from ..kernels.repeat import Repeat


class Inputs:
    """A buffer for the inputs of mini-batches of `count` samples, and how they get there.

    Parameters
    ----------
    data : Samples
        Or what has its methods.
    count : int
    dtype : numpy.dtype
        Of the numbers; tokens are int32.

    Examples
    --------
    >>> inputs = Inputs(Samples(np.array([[1.0], [2.0], [3.0]], np.float32), [0, 1, 0]), 2, np.float32)
    >>> for indices in [0, 1], [2, 0]:
    ...     x, targets = inputs.gather(np.array(indices), (0, 1))
    ...     print(x.tolist(), targets.tolist())
    [[1.0, 2.0]] [0, 1]
    [[3.0, 1.0]] [0, 0]
    """

    def __init__(self, data, count, dtype):
        self.data, self.dtype = data, dtype
        self.x = aligned(batch_last(data.input_shape, count), np.int32 if data.tokens else dtype)
        self.indices, self.turn = np.zeros(count, np.int64), None
        if type(data) is Samples and not data.augment and not data.tokens:  # nothing changes but the indices
            self.turn = Repeat(lambda: data.gather_inputs(self.indices, self.x))

    def gather(self, indices, key):
        """The inputs, batch last, and the targets of these samples; `key` is that of `Samples.gather`."""
        if self.turn is None:
            return self.data.gather(indices, self.x, self.dtype, key)
        self.indices[:] = indices
        self.turn()
        return self.x, self.data.gather_targets(indices, self.dtype)
