"""`PlayView`: the picture of a play."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..parallel import Compressed
from ..plots.axes import dress, remark
from ..plots.descent import Descent
from ..plots.limits import rounded_up
from ..plots.palette import STEPS, TRAINING
from ..plots.plane import EDGE, Arrows, Plane, places, ranks_legend
from .in_plane import agreement, in_plane

APART = 1e-4  # difference of weights from which replicas have borders of their own


class PlayView:
    """Points and gradients of a `Play` on one `Sheet`, its loss on another; made once for a play, then only moved."""

    def __init__(self, sheet, loss_sheet, play):
        self.sheet, self.loss_sheet, self.play = sheet, loss_sheet, play
        (left, middle), right = sheet.axes(2), loss_sheet.axes()
        rows = play.data.train
        edge = EDGE if np.abs(rows.x).max() < EDGE else 1.55  # noise takes some far away
        self.plane, self._places = Plane(left, rows.x, rows.y, play.ranks, edge), places(edge=edge)
        two = play.net.pair and play.net.pair.weights
        self.gradients = Descent(middle, play.ranks, two, play.loss_at, play.servers) if two else Arrows(middle, play.ranks)
        ranks_legend(middle, play.ranks, play.servers)
        dress(right, "Loss", "step")
        self.each = right.plot([], [], color=STEPS, linewidth=0.9)[0]
        self.loss = right.plot([], [], color=TRAINING, linewidth=1.8)[0]
        right.xaxis.set_major_locator(MaxNLocator(4, integer=True, prune="upper"))  # the last number would have no room
        right.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))  # no number is longer than those at first
        self.empty = remark(right)
        self.empty.set_text("▶ run trains on,\nstep makes one step.")

    def show(self):
        """Draw the play as it stands."""
        self._show_points()
        if self.play.net.pair:
            self._show_descent()
        elif self.play.step:
            self._show_gradients()
        self._show_loss(self.play.losses)
        self.sheet.show([*self.plane.moving, *self.gradients.moving], _limits(self.sheet))
        self.loss_sheet.show([self.each, self.loss, self.empty], _limits(self.loss_sheet))

    def _show_points(self):
        play, (owners, now) = self.play, self.play.owners()
        weights = play.weights()[play.servers :]
        differ = len(weights) > 1 and np.ptp(weights, axis=0).max() > APART
        mean, *each = play.outputs(self._places, np.vstack([play.mean_weights(), *(weights if differ else ())]))
        self.plane.show(owners, mean, now if play.step else None, each)

    def _vectors(self):
        """Each rank's gradient as the mean over its own samples, so that arrows of any number of ranks can be compared; the
        gradient of the batch; what was used, if that is another.
        """
        play = self.play
        parts, shares = play.gradients, play.shares
        own = np.divide(parts, shares[:, None], out=np.zeros_like(parts), where=shares[:, None] > 0)
        return own, parts.sum(0), play.used if isinstance(play.strategy, Compressed) else None

    def _show_gradients(self):
        own, total, used = self._vectors()
        flat = in_plane(np.vstack([own, total, total if used is None else used]), total)
        self.gradients.show(flat[:-2], flat[-2], None if used is None else flat[-1], _words(own, total, used))

    def _show_descent(self):
        play = self.play
        path = np.array([np.tile(play.first, (play.ranks, 1)), *play.path.values, play.weights()])
        if not play.step:
            self.gradients.show(path, words="black dot: the first weights\nlines: equal loss")
            return
        own, total, used = self._vectors()
        self.gradients.show(path, play.asked_at, own, total, used, _words(own, total, used))

    def _show_loss(self, losses):
        values, steps = losses.values, losses.steps
        half = len(values) // 30
        self.each.set_data(steps, values)
        mean = np.convolve(values, np.full(2 * half + 1, 1 / (2 * half + 1)), "valid") if values else []
        self.loss.set_data(steps[half : len(steps) - half], mean)
        self.loss.set_marker("." if len(values) == 1 else "")
        if values:
            self.empty.set_text("")
        self.loss.axes.set_xlim(0, rounded_up(max(20, self.play.step)))
        self.loss.axes.set_ylim(0, min(3.0, 0.4 * np.ceil(max([0.8, *values]) / 0.4)))


def _limits(sheet):
    return tuple(limit for ax in sheet.figure.axes for limit in (*ax.get_xlim(), *ax.get_ylim()))


def _words(own, total, used):
    return agreement(own, total) + ("" if used is None else "\ngrey: what is left of the mean")
