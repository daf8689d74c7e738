"""`Accumulate`: a rank computes its share of the batch in several pieces, and adds up their gradients."""

from dataclasses import dataclass, field

from ..allowed import whole
from .allreduce import AllReduce
from .strategy import Strategy


@dataclass(frozen=True)
class Accumulate:
    """Gradient accumulation: ``grad <- sum over k micro-batches of grad``, then one exchange and one update.

    ``batch_size`` stays the number of samples of an update, over all ranks; a rank's share of it goes through the network in
    `steps` pieces, one after the other. So the memory for activations is that of a piece, and the weights are those of the
    whole batch at once, to rounding, with dropout and augmentation too.

    Parameters
    ----------
    steps : int
        k, micro-batches an update.
    strategy : Strategy
        How the sums are exchanged.

    Raises
    ------
    ValueError, TypeError
        `steps` is no positive whole number.

    Notes
    -----
    Cost: that of the strategy, once for k micro-batches; gradients are added by backward itself, which adds anyway.
    Normalisation over the batch sees a piece at a time, as in the field, so with it the promise does not hold.

    Ott, Edunov, Grangier and Auli (2018), "Scaling neural machine translation".

    Examples
    --------
    >>> Accumulate(4)
    Accumulate(steps=4, strategy=AllReduce(algorithm='native', bucket_bytes=None, overlap=False))
    """

    steps: int = 2
    strategy: Strategy = field(default_factory=AllReduce)

    def __post_init__(self):
        whole("Accumulate's steps", self.steps, 1, more=": micro-batches an update, such as 4")
        if not hasattr(self.strategy, "begin"):
            raise TypeError(f"Accumulate(strategy={self.strategy!r}): give a strategy, such as AllReduce()")

    def begin(self, comm, parameters, optimizer):
        """See `Strategy`."""
        exchange = self.strategy.begin(comm, parameters, optimizer)
        exchange.pieces *= self.steps
        return exchange
