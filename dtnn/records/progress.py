"""What training achieves, step by step and epoch by epoch, and where its time goes."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One update of the weights, counted from 1; `loss` is the mean over the `samples` of the global batch, before the update.

    Where ranks seldom hear of each other (`dtnn.parallel.LocalSGD`, ``Gossip``) steps are told some steps later, several at once;
    `time` is when it was made.

    `gradient` is the 2-norm of the whole gradient, before any clipping; NaN where no rank holds all of it. `noise` estimates the
    variance of a single sample's gradient, summed over all weights, from how far the ranks' own gradients are apart: told with
    `gradient` on several ranks, in one step of eight and where gradients are kept; else NaN. See `dtnn.gradients.noise_scale`.

    >>> Step(step=1, epoch=1, loss=2.3, samples=64, lr=0.1, seconds=0.01, time=0.0).loss
    2.3
    """

    step: int
    epoch: int
    loss: float
    samples: int
    lr: float
    seconds: float
    time: float
    gradient: float = math.nan
    noise: float = math.nan


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a step that all ranks have done: `name` is "forward", "backward", "reduce" or "update".

    `seconds` and `values` have a number for each rank. A value shows what the phase has made: after forward the mean loss of the
    rank's own samples; after backward the 2-norm of its own gradient, its part of the mean over the global batch; after reduce
    that of the gradient with which it goes on (of its share alone, where each has one); after update that of the change of its
    weights, by the update and by what the strategy exchanges after it. NaN: the rank had no samples. With gradient accumulation
    forward and backward come once for each `piece` of `pieces`, and the gradient grows.

    >>> told = Phase(step=1, epoch=1, name="forward", piece=1, pieces=1, seconds=[0.1, 0.2], values=[2.3, 2.2], time=0.0)
    >>> max(told.seconds)
    0.2
    """

    step: int
    epoch: int
    name: str
    piece: int
    pieces: int
    seconds: list
    values: list
    time: float


@dataclass(frozen=True, slots=True)
class Ledger:
    """Where one rank's time went in the last `steps` steps, up to and with `step`.

    `wait` is the time from this rank's arrival at the reduction to the last rank's arrival, `pack` what went into
    packing and unpacking (compression), `transfer` the rest of the reduction; `samples` and `bytes` (handed to the reduction)
    are this rank's own; `loss` is the mean over these samples, each before its update (NaN: not told). `hidden` counts no time
    of its own: so many seconds of communication went on behind backward. `memory` is what the rank's process had in memory then,
    in bytes (0: not known; ranks that are threads have one process).

    >>> told = Ledger(0, 100, 100, 3200, 0, 0.1, 0.4, 0.8, 0.5, 0.1, 0.1, 2.0, 0.0)
    >>> f"rank {told.rank} waited {told.wait} of {told.seconds} s"
    'rank 0 waited 0.5 of 2.0 s'
    """

    rank: int
    step: int
    steps: int
    samples: int
    bytes: int
    data: float
    forward: float
    backward: float
    wait: float
    transfer: float
    update: float
    seconds: float
    time: float
    pack: float = 0.0
    hidden: float = 0.0
    loss: float = math.nan
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """What one rank of several made of its own share of an epoch; `Epoch` tells the same of all.

    Parameters
    ----------
    samples : int
        On which it trained.
    metrics : dict
        Named as in `Epoch`: of these samples, each before its update, and (``val_``) of those that it evaluated at the end. NaN:
        it had none.

    Examples
    --------
    >>> Share(rank=1, epoch=1, step=125, samples=2000, metrics={"loss": 0.5}, time=0.0).metrics["loss"]
    0.5
    """

    rank: int
    epoch: int
    step: int
    samples: int
    metrics: dict
    time: float


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the data, counted from 1: `metrics` such as loss, accuracy, val_loss, val_accuracy.

    One of 0 samples in 0 seconds is none: it tells the metrics before the first step, and has the number of the epochs done.

    >>> told = Epoch(epoch=1, step=125, samples=4000, seconds=2.0, lr=0.1, metrics={"loss": 0.5}, time=0.0)
    >>> told.samples / told.seconds
    2000.0
    """

    epoch: int
    step: int
    samples: int
    seconds: float
    lr: float
    metrics: dict
    time: float
