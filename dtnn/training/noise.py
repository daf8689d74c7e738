"""`Noise`: how far the gradients of single samples lie apart, told in a few steps and sent for nothing."""

import math

from ..gradients import signal_and_noise
from ..kernels.updates_adaptive import squares

EVERY = 8  # steps from one that tells it to the next: measuring is one pass over the gradient, less than 1 % of most nets' steps


class Noise:
    """What one rank adds to the tail of a reduction, and what comes of it: see `Step.noise`.

    Parameters
    ----------
    exchange : Exchange
        Of the strategy that reduces. Where ranks don't all hold the whole gradient afterwards, nothing is measured.

    Attributes
    ----------
    on : bool
        Whether the step under way is measured.
    value : float
        What the last step has told.

    Notes
    -----
    Cost: in one step of eight a pass over the gradient while it lies in the cache (LeNet-5: 2 microseconds; 0.9 ms for the 9
    million weights of VGG-11), and one number in the tail of the reduction, which is there anyway.
    """

    def __init__(self, exchange):
        watcher = exchange.watcher()
        self.exchange, self.overlap = exchange, watcher if hasattr(watcher, "measure") else None
        self.measurable = exchange.comm.size > 1 and (watcher is None or self.overlap is not None)
        self.on, self.value = False, math.nan

    def begin(self, step):
        """A step begins; what travels while backward computes must be measured before it goes."""
        self.on, self.value = self.measurable and step % EVERY == 0 and self.exchange.alike, math.nan
        if self.overlap is not None:
            self.overlap.measure = squares if self.on else None

    def own(self, count, total):
        """What rides in the tail: the squared norm of the mean gradient over this rank's `count` samples of `total`."""
        if not self.on or not count:
            return 0.0
        square = squares(self.exchange.trained[1]) if self.overlap is None else self.overlap.measured
        return square * (total / count) ** 2

    def tell(self, samples, local, whole):
        """What comes of it.

        Parameters
        ----------
        samples : list of int
            Of each rank.
        local : float
            The sum over the ranks of what `own` returned.
        whole : float
            The norm of the whole gradient; NaN: nobody knows it.
        """
        noise = signal_and_noise(samples, local, whole * whole)[1]
        self.value = noise if math.isfinite(noise) else math.nan
