"""What a training needs, beside the weights, to go on as if there had been no pause."""

from dataclasses import dataclass, field

import numpy as np

from ..commands import Rate

KEPT = "kept/"  # before the names of the arrays that ranks keep, among the others


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a training at the end of an epoch.

    Parameters
    ----------
    epoch, step : int
        How many are done.
    seed : int
        Of the order of the samples and of dropout.
    past : tuple of dict
        The metrics of the epochs done.
    batch_size : int
        Samples a step, over all ranks.
    optimizer : str
        Whose state it is, as the call that makes it.
    state : dict of arrays and numbers
        The optimizer's own.
    kept : dict of arrays
        What the ranks keep each for itself, a row for each, see `dtnn.parallel.kept`.
    rate : Rate
        The learning rate that was asked for while it went on; it counts again if the optimizer's settings are the same.

    Examples
    --------
    >>> import dtnn
    >>> model = dtnn.zoo.mlp()
    >>> _ = model.fit(dtnn.data.mnist5k(), batch_size=1000, show=False)
    >>> model.training.epoch, model.training.step, model.training.batch_size
    (1, 4, 1000)
    """

    epoch: int
    step: int
    seed: int
    past: tuple
    batch_size: int
    optimizer: str
    state: dict
    kept: dict = field(default_factory=dict)
    rate: Rate = field(default_factory=Rate)

    def restore(self, optimizer, state, batch_size):
        """Copy what was kept into the state of an optimizer of the same kind.

        Raises
        ------
        ValueError
            It is of another kind, or the batch has another size; names both.
        """
        if batch_size != self.batch_size:
            raise ValueError(
                f"this training was made with batch_size={self.batch_size} and can't go on with {batch_size}: "
                "its steps would mean something else; use the same, or begin a new training with resume=False"
            )
        kept = {name: np.shape(value) for name, value in self.state.items()}
        same = self.optimizer.partition("(")[0] == repr(optimizer).partition("(")[0]
        if not same or kept != {name: np.shape(value) for name, value in state.items()}:
            raise ValueError(
                f"this training was made with {self.optimizer}, so {optimizer!r} can't go on with it; "
                "use the same optimizer, or begin a new training with resume=False"
            )
        for name, value in self.state.items():
            if np.ndim(value):
                state[name][...] = value
            else:
                state[name] = value

    def parts(self):
        """(plain values, arrays by name), to be put into a file; `of` makes it from them again."""
        arrays = {name: value for name, value in self.state.items() if np.ndim(value)}
        arrays |= {KEPT + name: value for name, value in self.kept.items()}
        numbers = {name: value for name, value in self.state.items() if not np.ndim(value)}
        plain = {name: getattr(self, name) for name in ("epoch", "step", "seed", "batch_size", "optimizer")}
        return {**plain, "past": list(self.past), "numbers": numbers, "rate": [self.rate.lr, self.rate.factor]}, arrays

    @classmethod
    def of(cls, plain, arrays):
        """The checkpoint that `parts` took apart."""
        kept = {name.removeprefix(KEPT): array for name, array in arrays.items() if name.startswith(KEPT)}
        state = {**plain["numbers"], **{name: array for name, array in arrays.items() if not name.startswith(KEPT)}}
        settings = {name: plain[name] for name in ("epoch", "step", "seed", "batch_size", "optimizer")}
        rate = Rate(*plain.get("rate", ()))  # files of before there was one have none
        return cls(**settings, past=tuple(plain["past"]), state=state, kept=kept, rate=rate)
