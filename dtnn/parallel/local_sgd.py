"""`LocalSGD`: every rank trains by itself for some steps, then the replicas are averaged."""

from dataclasses import dataclass

from ..allowed import whole
from .allreduce import AllReduce
from .average import Average, floats, largest_counts
from .strategy import Exchange, mark_not_finite

RARELY = 32  # steps in which ranks hear of each other once at least, however seldom they average


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
    gradient. Who leaves the loop over `train` by ``break`` may have one rank's weights; a `Stop` gives the average.

    Between two averages a rank sends nothing at all and waits for nobody. So what the others' losses were, a stop, a pause,
    another learning rate, are known to all at the next average, after 32 steps at the latest: there each `Step` since the last
    one is told, with the loss of its global batch; so ``break`` leaves the loop some steps later than it seems. Where a loss or a
    gradient is not finite, that rank does no more, and all end there, with the weights of the last average. While a training is
    led step by step, all know after each.

    Cost a step, S the optimizer's vectors a weight: 1/H times (2 ceil(log2 P) alpha + 2 (P-1)/P (1 + S) n beta): one reduction,
    in which all that is averaged travels together.

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
        whole("LocalSGD's every", self.every, 1, more=": steps from one average to the next, such as 8")
        whole("LocalSGD's after", self.after, 0, more=": epochs at first, such as 2, or 0")

    def begin(self, comm, parameters, optimizer):
        """See `Strategy`."""
        return Averaging(self, comm, parameters, optimizer)


class Averaging(Exchange):
    """Counts steps and samples since the last average."""

    samples = total = steps = 0
    apart, goes_back, uneven, due, last = True, True, False, False, None

    def __init__(self, *parts):
        super().__init__(*parts)
        self.rarely, self.average = min(self.strategy.every, RARELY), Average(self.comm)

    @property
    def equal(self):
        return self.steps == 0

    def begin_epoch(self, first, last):
        self.last = last
        self.average.keep(self.trained[0])

    def meets(self, progress):
        return progress.epoch < self.strategy.after or self._due(progress.step)

    def _due(self, step):
        """Whether there is an average after this step."""
        return self.steps + 1 == self.strategy.every or step == self.last

    def combine(self, tail, count, total, progress):
        self.alike, self.count, self.all, self.late = progress.epoch < self.strategy.after, count, total, False
        if self.alike:
            return AllReduce().reduce(self.comm, self.parameters, tail)
        before, (_, grad), tail = self.comm.bytes, self.trained, self.parameters.tail(tail)
        if count:
            grad *= total / count
        self.frozen = mark_not_finite(grad, tail) or self.frozen
        self.due = self._due(progress.step)
        self.late = self.due and not self.prompt and self.comm.size > 1
        if not (self.quiet or self.late):
            self.comm.Allreduce(tail)
        self.tail = tail
        return self.comm.bytes - before

    def update(self, progress):
        if self.alike or self.count:
            super().update(progress)
        else:
            self.trained[1][:] = 0

    def mix(self, progress):
        if self.alike:
            return 0
        self.steps, self.samples, self.total = self.steps + 1, self.samples + self.count, self.total + self.all
        self.uneven |= self.all < self.comm.size
        return self._average(self.tail if self.late else None) if self.due else 0

    def settle(self):
        if self.steps:
            self._average()

    def undo(self):
        self.average.go_back(self.trained[0])

    def _average(self, tail=None):
        before = self.comm.bytes
        self.average([self.trained[0], *floats(self.state)], self.samples / self.total, tail)
        if self.uneven:  # somebody had no samples in a step, so made an update less
            largest_counts(self.comm, self.state)
        self.steps = self.samples = self.total = 0
        self.uneven = False
        return self.comm.bytes - before
