"""What a strategy is: settings that begin an `Exchange`, which a training asks, step by step, to keep its replicas together."""

from functools import partial
from operator import is_not
from typing import Protocol

import numpy as np


class Strategy(Protocol):
    """How replicas stay together; frozen settings, the same on all ranks. One of your own needs `begin` and a repr.

    A strategy that doesn't give the same bits in every run says why, and what would, in a text called `unrepeatable`; one whose
    ranks don't take each step together in one called `out_of_step`.
    """

    def begin(self, comm, parameters, optimizer):
        """What keeps the replicas together in one training; collective.

        Parameters
        ----------
        comm : Communicator
        parameters : Parameters
            Equal on all ranks now.
        optimizer : Optimizer

        Returns
        -------
        Exchange
        """


class Exchange:
    """One training's part of a strategy. Each step calls `combine`, then, if all is finite, `update` and `mix`.

    Parameters
    ----------
    strategy : Strategy
    comm : Communicator
    parameters : Parameters
    optimizer : Optimizer

    Attributes
    ----------
    alike : bool
        After `combine` all ranks hold the same gradient, so each can see by itself that it is not finite. Where
        not, `combine` tells the others by `mark_not_finite`.
    equal : bool
        After `mix` all replicas are equal, bit by bit; left alone, where they are `alike`.
    lockstep : bool
        All ranks take a step together, so that a layer may reduce within it.
    pieces : int
        So many micro-batches make the gradient of a step.
    servers : int
        So many ranks, the first ones, get no samples.
    own : slice or None
        The part of the flat vectors that this rank updates, where each has a share; None: all of them.
    state : dict
        The optimizer's.
    failed : int or None
        The step whose gradient was not finite, where that is not the one which this rank is in.
    waited : float or None
        Seconds that this rank waited for others within `combine`; None where the moments of arrival in the tail say it.
    apart : bool
        Ranks update by themselves, so what rides in the tail may be told later, by `mix` or not in each step.
    rarely : int
        Where they are, in every so many steps at least the tail is summed; `meets` may say more often, other steps are quiet.
    quiet : bool
        Set before `combine`: nobody is told anything in this step.
    prompt : bool
        Set before `combine`: the tail must be summed by it, where it could also be left to `mix`.
    late : bool
        Set by `combine`: it has left the tail to `mix`, which exchanges something anyway.
    frozen : bool
        In a quiet step this rank's own loss or gradient was not finite, and nobody knows: its weights stay what they were then.
    goes_back : bool
        After a step that is not finite `undo` gives all ranks the weights that they had when they were last `equal`.
    moment : float
        Set before `mix`, where ranks are `apart`: when this rank came to it, in seconds of a clock that all ranks share.
    stood : float
        Seconds that this rank waited for others within `mix`, where the tail is not `late`.
    packed, begun, hidden : float
        Seconds of the last step: of packing and unpacking, within `combine`; that backward lost to communication; in
        which communication went on behind backward.
    """

    alike, lockstep, pieces, servers = True, True, 1, 0
    own = failed = waited = None
    apart = quiet = prompt = late = frozen = goes_back = False
    rarely = 1
    packed = begun = hidden = moment = stood = 0.0
    _used = _update = None

    def __init__(self, strategy, comm, parameters, optimizer):
        self.strategy, self.comm, self.parameters, self.optimizer = strategy, comm, parameters, optimizer
        self.state = self.begin_state()

    @property
    def equal(self):
        return self.alike

    @property
    def trained(self):
        """The trainable (values, gradients), flat."""
        count = self.parameters.trainable
        return self.parameters.value[:count], self.parameters.grad[:count]

    def begin_state(self):
        """The optimizer's state at the start."""
        return self.optimizer.state(self.parameters)

    def begin_epoch(self, first, last):
        """The steps from `first` to `last` come now; no communication."""

    def meets(self, progress):
        """Whether the tail is to be summed in this step; the same on all ranks, without communication."""
        return True

    def watcher(self):
        """What is to be told as backward goes on in the last micro-batch of a step, see `dtnn.nn.Pass`; None: nothing."""
        return None

    def combine(self, tail, count, total, progress):
        """Sum the tail over all ranks, unless `quiet`, and make the gradient what `update` needs; collective, no weight changes.

        Parameters
        ----------
        tail : int
            How many numbers behind the gradients are to be summed, see `Parameters.tail`; the loss is the first, the second
            is above 0 where a rank has something for all of them to do together, and then on all ranks after the same step.
        count, total : int
            Samples of this rank and of all ranks; the gradient is that of this rank's sum of losses / total.
        progress : Progress

        Returns
        -------
        int
            Bytes that this rank handed over.
        """
        raise NotImplementedError

    def update(self, progress):
        """Change the weights and set the gradient to zero; no communication."""
        used = self.optimizer, self.state, self.parameters.grad  # which may be others after a while
        if self._used is None or any(map(is_not, used, self._used)):
            self._used, self._update = used, updates(self.optimizer, self.parameters, self.state)
        self._update(progress)

    def mix(self, progress):
        """What is to be exchanged after the update; returns the bytes that this rank handed over; collective."""
        return 0

    def undo(self):
        """A step was not finite on some rank, and this exchange `goes_back`: the weights become those that it goes back to."""

    def whole_loss(self, loss):
        """The sum of an epoch's losses as all ranks should tell it, from what this rank has added up; collective."""
        return loss

    def settle(self):
        """Make all replicas one: at the end of every epoch, and of a training that is stopped; collective."""

    def whole_state(self):
        """The optimizer's state for a checkpoint, as on one rank; called after `settle`; collective."""
        return self.state

    def take(self, state):
        """Go on from a state that `whole_state` gave; the same on all ranks."""
        self.state = state

    def kept(self):
        """Arrays that this rank, for itself, keeps from step to step, by name; a checkpoint holds those of all ranks."""
        return {}


def updates(optimizer, parameters, state):
    """A function of a `Progress` that updates, see `Optimizer.updates`; a rule of the user's own need not have that."""
    own = getattr(optimizer, "updates", None)
    return partial(optimizer.update, parameters, state) if own is None else own(parameters, state)


def mark_not_finite(gradient, tail):
    """Make the loss, the first number of the tail, NaN where a gradient of this rank is not finite; whether it is not finite now.

    >>> tail = np.zeros(2)
    >>> mark_not_finite(np.array([1.0, np.inf]), tail), tail.tolist()
    (True, [nan, 0.0])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        square = np.dot(gradient, gradient)
    if not np.isfinite(square) and not np.isfinite(gradient).all():
        tail[0] = np.nan
    return not np.isfinite(tail[0])
