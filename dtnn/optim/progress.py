"""Where a training is: all that a schedule may look at."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a training when an update is about to be made; the same on all ranks.

    Parameters
    ----------
    step : int
        The number of this update, from 1.
    epoch : float
        Epochs done so far, a fraction within an epoch: (step - 1) / steps_per_epoch.
    steps_per_epoch, epochs : int
        Of the whole training.
    metrics : dict
        Of the last finished epoch ("loss", "val_loss" ...); empty in the first.
    past : sequence of dict
        The metrics of all finished epochs, oldest first.

    Examples
    --------
    >>> Progress(step=51, epoch=5.0, steps_per_epoch=10, epochs=20).fraction
    0.25
    """

    step: int
    epoch: float
    steps_per_epoch: int = 1
    epochs: int = 1
    metrics: dict = field(default_factory=dict)
    past: tuple = ()

    @property
    def fraction(self):
        """How much of the training is done, 0 at its first update, towards 1."""
        return min(1.0, self.epoch / self.epochs) if self.epochs else 1.0
