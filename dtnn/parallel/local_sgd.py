"""`LocalSGD`: every rank trains by itself for some steps, then the replicas are averaged."""

from dataclasses import dataclass

from .allreduce import AllReduce
from .settings import whole_number
from .strategy import Exchange, average, average_state, mark_not_finite


@dataclass(frozen=True)
class LocalSGD:
    """Local steps, then an average: communication every H steps instead of every step.

    Rank r updates its own weights w_r by the mean gradient over its own n_r samples. After every H-th step::

        w_r <- sum over ranks q of (N_q / N) w_q          N_q: samples of rank q since the last average, N: of all ranks

    and so for the optimizer's state (**the momentum is averaged, too**). So with H = 1 and SGD, with or without momentum,
    this is `AllReduce`, to rounding, for uneven shares too. At the end of an epoch there is always an average.

    Parameters
    ----------
    every : int
        H, steps from one average to the next.
    after : int
        Post-local SGD: so many epochs at first all-reduce each step.

    Raises
    ------
    ValueError, TypeError
        A setting makes no sense; says what it may be.

    Notes
    -----
    The replicas differ between two averages, so P ranks don't give the weights of one rank. Clipping acts on a rank's own
    gradient. Who leaves the loop over `train` by ``break`` has one rank's weights; a `Stop` gives the average.

    Cost a step, S the optimizer's vectors a weight: (1 + S)/H times (2 ceil(log2 P) alpha + 2 (P-1)/P n beta), and an
    all-reduce of a few numbers each step, for the loss and for decisions that all ranks must take at once.

    Stich (2019), "Local SGD converges fast and communicates little"; post-local: Lin, Stich, Patel and Jaggi (2020), "Don't
    use large mini-batches, use local SGD"; the momentum: Yu, Jin and Yang (2019).

    Examples
    --------
    >>> LocalSGD(8, after=2)
    LocalSGD(every=8, after=2)
    """

    every: int = 8
    after: int = 0

    def __post_init__(self):
        whole_number(self, "every", 1, "steps from one average to the next, such as 8")
        whole_number(self, "after", 0, "epochs at first, such as 2, or 0")

    def begin(self, comm, parameters, optimizer):
        """See `Strategy`."""
        return Averaging(self, comm, parameters, optimizer)


class Averaging(Exchange):
    """Counts steps and samples since the last average."""

    samples = steps = 0

    @property
    def equal(self):
        return self.steps == 0

    def combine(self, tail, count, total, progress):
        self.alike, self.count = progress.epoch < self.strategy.after, count
        if self.alike:
            return AllReduce().reduce(self.comm, self.parameters, tail)
        before, (_, grad), tail = self.comm.bytes, self.trained, self.parameters.tail(tail)
        mark_not_finite(grad, tail)
        self.comm.Allreduce(tail)
        if count:
            grad *= total / count
        return self.comm.bytes - before

    def update(self, progress):
        if self.alike or self.count:
            super().update(progress)
        else:
            self.trained[1][:] = 0

    def mix(self, progress):
        if self.alike:
            return 0
        self.steps, self.samples = self.steps + 1, self.samples + self.count
        return self._average() if self.steps == self.strategy.every else 0

    def settle(self):
        if self.steps:
            self._average()

    def _average(self):
        before = self.comm.bytes
        weight = self.samples / self.comm.Allreduce(float(self.samples))
        average(self.comm, [self.trained[0]], weight)
        average_state(self.comm, self.state, weight)
        self.steps = self.samples = 0
        return self.comm.bytes - before
