"""`PlayView`: the picture of a play."""

import functools

import numpy as np

from ..parallel import Compressed
from ..plots.axes import dress
from ..plots.palette import STEPS, TRAINING
from ..plots.plane import Arrows, Plane, places
from .play import in_plane

APART = 1e-4  # difference of weights from which replicas have borders of their own


class PlayView:
    """Points, gradients and loss of a `Play`, side by side on a `Sheet`; made once for a play, then only moved."""

    def __init__(self, sheet, play):
        self.sheet, self.play = sheet, play
        left, middle, right = sheet.axes(3, width_ratios=(1, 1, 0.8))
        rows = play.data.train
        self.plane, self.arrows = Plane(left, rows.x, rows.y, play.ranks), Arrows(middle, play.ranks)
        dress(right, "Loss", "step")
        self.each = right.plot([], [], color=STEPS, linewidth=0.9)[0]
        self.loss = right.plot([], [], color=TRAINING, linewidth=1.8)[0]

    def show(self):
        """Draw the play as it stands."""
        self._show_points()
        if self.play.step:
            self._show_gradients()
        self._show_loss(self.play.losses)
        frame = tuple(limit for ax in self.sheet.figure.axes for limit in (*ax.get_xlim(), *ax.get_ylim()))
        self.sheet.show([*self.plane.moving, *self.arrows.moving, self.each, self.loss], frame)

    def _show_points(self):
        play, (owners, now) = self.play, self.play.owners()
        weights = play.weights()[play.servers :]
        differ = len(weights) > 1 and np.ptp(weights, axis=0).max() > APART
        each = [play.outputs(places(), one) for one in weights] if differ else ()
        self.plane.show(owners, play.outputs(places()), now if play.step else None, each)

    def _show_gradients(self):
        gradients = self.play.gradients[self.play.servers :]
        total, used = gradients.sum(0), self.play.used
        # what a rank would do alone: the mean over its own samples, so that arrows of any number of ranks can be compared
        flat = in_plane(np.vstack([len(gradients) * gradients, total, used]), total)
        changed = isinstance(self.play.strategy, Compressed)
        self.arrows.show(flat[:-2], flat[-2], flat[-1] if changed else None, agreement(gradients, total))

    def _show_loss(self, losses):
        steps, width = np.arange(1, len(losses) + 1), max(1, len(losses) // 15)
        self.each.set_data(steps, losses)
        mean = np.convolve(losses, np.full(width, 1 / width), "valid") if losses else []
        self.loss.set_data(steps[width - 1 :], mean)
        self.loss.axes.set_xlim(0, rounded_up(max(20, len(losses))))
        self.loss.axes.set_ylim(0, min(3.0, 0.4 * np.ceil(max([0.8, *losses]) / 0.4)))


def agreement(gradients, total):
    """How the ranks' gradients agree, in words.

    >>> agreement(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0]))
    'cosine with the mean: 0.71 to 0.71'
    """
    sizes = np.linalg.norm(gradients, axis=1) * np.linalg.norm(total)
    cosines = (gradients @ total)[sizes > 0] / sizes[sizes > 0]
    return f"cosine with the mean: {cosines.min():.2f} to {cosines.max():.2f}" if len(cosines) else ""


@functools.cache
def rounded_up(count):
    """20, 50, 100, 200, 500 ...

    >>> rounded_up(20), rounded_up(21), rounded_up(501)
    (20, 50, 1000)
    """
    size = 10
    while True:
        for factor in (1, 2, 5):
            if factor * size >= count:
                return factor * size
        size *= 10
