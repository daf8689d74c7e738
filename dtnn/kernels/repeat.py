"""`Repeat`: a function that calls kernels, done again without the Python that decided on the calls."""

from .parts import here, joined, threads_here, wake
from .tape import play, recording


class Repeat:
    """The calls of kernels (`tape.call`) that a function makes, written down the first time, and then made again.

    It must work on the same arrays each time, whatever they hold.  With another number of threads, or in another thread, whose
    scratch arrays are others, it is asked anew.

    Parameters
    ----------
    function : callable
        Without arguments; what it does besides calls of kernels is done the first time only.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.kernels.gather import gather
    >>> rows, indices, out = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([2, 0]), np.empty((2, 2), np.float32)
    >>> again = Repeat(lambda: gather(rows, indices, out))
    >>> again()
    >>> indices[:] = 1
    >>> again()
    >>> out.tolist()
    [[2.0, 2.0], [3.0, 3.0]]
    """

    def __init__(self, function):
        self.function, self.calls, self.threads, self.thread = function, None, 0, None

    def __call__(self):
        if self.calls is None or self.thread is not here.key or self.threads != threads_here():
            with recording([]) as calls:
                self.function()
            self.calls, self.threads, self.thread = joined(calls), threads_here(), here.key
        else:
            wake()
            play(self.calls)
