"""What a training needs, beside the weights, to go on as if there had been no pause."""

from dataclasses import dataclass

import numpy as np


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
    """

    epoch: int
    step: int
    seed: int
    past: tuple
    batch_size: int
    optimizer: str
    state: dict

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
        numbers = {name: value for name, value in self.state.items() if not np.ndim(value)}
        plain = {name: getattr(self, name) for name in ("epoch", "step", "seed", "batch_size", "optimizer")}
        return {**plain, "past": list(self.past), "numbers": numbers}, arrays

    @classmethod
    def of(cls, plain, arrays):
        """The checkpoint that `parts` took apart."""
        state = {**plain["numbers"], **arrays}
        settings = {name: plain[name] for name in ("epoch", "step", "seed", "batch_size", "optimizer")}
        return cls(**settings, past=tuple(plain["past"]), state=state)
