"""`serial_equivalent`: whether P ranks give the weights of one rank, and if not, what broke it."""

from dataclasses import dataclass

from .. import known, phrases
from ..allowed import number, shown, whole
from ..data import samples
from ..optim import SGD
from ..parallel import AllReduce
from ..training import train
from ..training.asked import check_model
from .probes import PROBES, samples_used
from .trial import Trial

MOST = 64  # ranks: as many threads train at once


@dataclass(frozen=True)
class Equivalence:
    """What `serial_equivalent` found; true where the weights agree.

    Parameters
    ----------
    agree : bool
    distance : float
        |w_P - w_1| / |w_1 - w_0|: w_0 at the start, w_1 trained by one rank, w_P by P. Infinite where the replicas differ.
    ranks : int
    broken : str
        The ingredient: "training" (nobody learns), "start", "drift", "samples", "inputs", "layer", "gradient", "sum", "shares",
        "update" or "later steps"; empty where all is well.
    text : str
        The same in words, with what to look at.

    Examples
    --------
    >>> bool(Equivalence(True, 1e-15, 2))
    True
    """

    agree: bool
    distance: float
    ranks: int
    broken: str = ""
    text: str = ""

    def __bool__(self):
        return self.agree

    def __str__(self):
        head = f"{phrases.ranks(self.ranks)} and one {'agree' if self.agree else 'differ'} (distance {self.distance:.1e})"
        return f"{head}: {self.text}" if self.text else head


def serial_equivalent(
    model, data, ranks=4, *, loss="cross_entropy", optimizer=SGD(0.05, momentum=0.9), strategy=AllReduce(), seed=0,
    train=train, tolerance=1e-10,
):  # fmt: skip
    """Train copies of a model in float64 on one rank and on several, for a few steps, and compare the weights.

    Where they differ, each ingredient is tried by itself: the weights at the start, and whether something else than the
    optimizer changes them; which samples are used, and their inputs, augmented; each layer's output; the gradients; a step of SGD
    with equal shares, and with unequal ones; and one of the optimizer that was given.

    Parameters
    ----------
    model : Model
        Left as it is.
    data : Dataset, Samples or (x, y)
        Its first 8 P + 1 samples are used, in batches of 4 P, so that some shares of the last batch are empty.
    ranks : int
        P, as threads.
    loss, optimizer, strategy, seed
        As in `Model.fit`.
    train : generator function
        One of your own can be checked, if it takes the arguments of `dtnn.training.train`.
    tolerance : float
        The largest distance that is rounding.

    Returns
    -------
    Equivalence

    Examples
    --------
    >>> from dtnn import data, zoo
    >>> from dtnn.parallel import Gossip
    >>> bool(serial_equivalent(zoo.mlp(), data.mnist5k(), ranks=2))
    True
    >>> print(serial_equivalent(zoo.mlp(), data.mnist5k(), ranks=4, strategy=Gossip("ring")).broken)
    later steps
    """
    ranks, seed = whole("ranks", ranks, 1, MOST), whole("seed", seed)
    tolerance = number("tolerance", tolerance, "a small number of at least 0, such as 1e-10")
    if not callable(train):
        raise TypeError(f"train={shown(train)}: give a generator function that takes the arguments of dtnn.training.train")
    optimizer, strategy = known.optimizer(optimizer), known.strategy(strategy)
    loss, rows = known.loss(loss), samples(data, None)
    check_model(model)
    rows = model.suited(rows, loss)[: 8 * ranks + 1]
    trial = Trial(model, rows, ranks, train, optimizer, dict(loss=loss, strategy=strategy, seed=seed))
    distance, differ = trial.distance(len(rows), batch_size=4 * ranks, epochs=2, optimizer=optimizer)
    if distance <= tolerance:
        found = samples_used(trial) if ranks > 1 else None  # ranks that each do everything agree, too
        return Equivalence(found is None, distance, ranks, *(found or ()))
    for probe in PROBES:
        if found := probe(trial):
            return Equivalence(False, distance, ranks, *found)
    words = (
        "single steps agree, so look at what is kept from one step to the next: optimizer state, clipping, replicas left apart"
    )
    return Equivalence(False, distance, ranks, "later steps", f"{words}; {differ}" if differ else words)
