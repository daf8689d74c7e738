"""A training on points in the plane: who has which points, what the network says where, and how the ranks' gradients differ."""

import numpy as np
from contourpy import contour_generator
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from .axes import axes_or_new, dress, remark
from .columns import behind, table
from .limits import short
from .messages import colours
from .palette import FAINT, INK, PAPER, RULE

EDGE = 1.25  # the plane is shown from -EDGE to EDGE, if nothing else is said
CELLS = 50  # places a side at which the network is asked
TINTS = LinearSegmentedColormap.from_list("classes", ["#FBE3D0", "#FFFFFF", "#D3E6F4"])
MARKS = "o", "s"  # of the two classes
MARKS_IN_WORDS = "● class 0 (orange)  ■ class 1 (blue)\nlarge: in the last batch"


def places(cells=CELLS, edge=EDGE):
    """The points of the plane at which the network is asked, row by row from below: (cells^2, 2).

    >>> places(2).tolist()
    [[-1.25, -1.25], [1.25, -1.25], [-1.25, 1.25], [1.25, 1.25]]
    """
    line = np.linspace(-edge, edge, cells)
    return np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)


def plane(points, labels, owners, outputs, ax=None, now=None, ranks=None):
    """Draw the points in the colours of the ranks that own them, over what the network says of each place.

    Parameters
    ----------
    points : array (N, 2)
    labels, owners : array (N,) of int
        Classes 0 (round) and 1 (square); ranks.
    outputs : array (n^2,)
        The probability of class 1 at `places(n)`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    now : array (N,) of bool, optional
        Which points are in the present batch; the others are small.
    ranks : int, optional
        How many there are.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plane([[0, 0], [1, 1]], [0, 1], [0, 1], np.full(4, 0.5), ax=Figure().add_subplot())
    >>> [len(marks.get_offsets()) for marks in ax.collections[:2]]
    [1, 1]
    """
    drawn = Plane(axes_or_new(ax, (4.4, 4.4)), points, labels, ranks or int(np.max(owners)) + 1)
    drawn.show(owners, outputs, now)
    return drawn.ax


class Plane:
    """The points and the ground of one Axes, made once and then only recoloured."""

    def __init__(self, ax, points, labels, ranks, edge=EDGE):
        self.edge, self.ax = edge, dress(ax, "Points and their ranks", MARKS_IN_WORDS, "", None)
        self.labels, self.ranks = np.asarray(labels), ranks
        self._paint = np.array([to_rgb(colour) for colour in colours(ranks)])
        self.ground = ax.imshow(
            np.full((2, 2), 0.5), extent=(-edge, edge, -edge, edge), origin="lower", cmap=TINTS, vmin=0, vmax=1,
            interpolation="bilinear", aspect="equal",
        )  # fmt: skip
        self.points = points = np.asarray(points)
        self.marks = [
            ax.scatter(*points[self.labels == k].T, s=16, marker=MARKS[k], linewidths=0.7, edgecolors=PAPER, zorder=3)
            for k in (0, 1)
        ]
        self.borders = LineCollection([], zorder=2, capstyle="round")
        ax.add_collection(self.borders, autolim=False)
        ax.set(xlim=(-edge, edge), ylim=(-edge, edge), xticks=(-1, 0, 1), yticks=(-1, 0, 1))
        ax.xaxis.label.set_size("small")

    @property
    def moving(self):
        """What changes from step to step."""
        return [self.ground, self.borders, *self.marks]

    def show(self, owners, outputs, now=None, each=()):
        """Colour the points by their ranks; large ones are in the present batch; `each`: outputs of replicas that differ."""
        owned = np.array(owners)
        behind(self.ax, lambda: _columns(self.points, self.labels, owned, now))
        side = round(len(outputs) ** 0.5)
        grid = np.asarray(outputs).reshape(side, side)
        self.ground.set_data(grid)
        for k, marks in enumerate(self.marks):
            own = np.asarray(owners)[self.labels == k]
            marks.set_facecolor(self._paint[own])
            marks.set_sizes(np.where(now[self.labels == k], 46.0, 13.0) if now is not None else np.full(len(own), 22.0))
        found = [
            (border(np.reshape(one, (side, side)), self.edge), colour, 1.0) for one, colour in zip(each, colours(self.ranks))
        ]
        found.append((border(grid, self.edge), INK, 1.8))
        drawn = [(line, colour, width) for lines, colour, width in found for line in lines]
        self.borders.set(
            segments=[line for line, _, _ in drawn],
            colors=[colour for _, colour, _ in drawn],
            linewidths=[width for _, _, width in drawn],
        )


def _columns(points, labels, owners, now):
    """The points, the ranks that own them, and whether they are in the present batch (None: not known)."""
    batch = [None] * len(points) if now is None else now
    return table(("x", "y", "class", "rank", "now"), [(*point, *rest) for point, *rest in zip(points, labels, owners, batch)])


def border(grid, edge=EDGE):
    """The lines on which both classes are as likely, from the probabilities at `places`: a list of (N, 2).

    matplotlib's own contours, without the objects around them, which take longer than the lines.

    >>> (line,) = border(np.array([[0.0, 1.0], [0.0, 1.0]]))
    >>> sorted(line.tolist())
    [[0.0, -1.25], [0.0, 1.25]]
    """
    line = np.linspace(-edge, edge, len(grid))
    return contour_generator(line, line, grid, name="serial").lines(0.5)


class Arrows:
    """Each rank's gradient, the mean of all, and what was used, in the plane of the mean and the largest deviation from it."""

    def __init__(self, ax, ranks):
        self.ax = dress(ax, "Gradients of the last step", "along their mean", "largest deviation", None)
        ax.set_box_aspect(1)  # angles are as they are
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
            axis.set_major_formatter(FuncFormatter(signed))  # no longer when gradients are small, or there would be no room
        ax.axhline(0, color=RULE, linewidth=0.8)
        ax.axvline(0, color=RULE, linewidth=0.8)
        zero, how = np.zeros(ranks), {"angles": "xy", "scale_units": "xy", "scale": 1, "minlength": 0.1}
        self.each = ax.quiver(zero, zero, zero, zero, color=colours(ranks), width=0.011, zorder=3, **how)
        self.mean = ax.quiver([0], [0], [0], [0], color=INK, width=0.016, zorder=4, **how)
        self.used = ax.quiver([0], [0], [0], [0], color=FAINT, width=0.009, zorder=5, **how)
        self.words = ax.text(0.02, 0.98, "", transform=ax.transAxes, va="top", fontsize="small", color=FAINT)
        self.words.set_in_layout(False)
        self.empty, self._reach = remark(ax), 0.0
        self.empty.set_bbox({"facecolor": PAPER, "edgecolor": "none"})
        self.empty.set_text("Here each rank's gradient is shown,\nin its colour, in black their mean,\nfrom the first step on.")

    @property
    def moving(self):
        """What changes while the frame stays."""
        return [self.each, self.mean, self.used, self.words, self.empty]

    def show(self, each, mean, used, words=""):
        """Move the arrows: (P, 2), (2,) and (2,) or None."""
        each = np.asarray(each)
        self.each.set_UVC(*each.T)
        self.mean.set_UVC([mean[0]], [mean[1]])
        self.used.set_UVC(*([[used[0]], [used[1]]] if used is not None else [[0], [0]]))
        self.words.set_text(words)
        self.empty.set_text("")
        reach = 1.15 * max(np.abs(each).max(initial=1e-9), *np.abs(mean), *np.abs(mean if used is None else used))
        if not 0.4 * self._reach < reach <= self._reach:  # rarely, or nothing could be compared from step to step
            self._reach = 1.3 * reach
            self.ax.set(xlim=(-self._reach, self._reach), ylim=(-self._reach, self._reach))


def signed(value, _=None):
    """A tick's number in few letters.

    >>> signed(0.0), signed(-0.5), signed(0.0002)
    ('0', '−0.5', '2e-4')
    """
    return ("−" if value < 0 else "") + short(abs(value)) if value else "0"


def ranks_legend(ax, ranks, servers=0):
    """Say below an Axes which colour is which rank's, in one line; rank 0 may be a server."""
    handles = [Patch(color=colour) for colour in colours(ranks)]
    names = [f"rank {rank}" if rank == 0 else str(rank) for rank in range(ranks)]
    names[:servers] = ["server"][:servers]
    return ax.legend(
        handles, names, loc="upper right", bbox_to_anchor=(1.02, -0.2), ncols=ranks, frameon=False, fontsize="small",
        labelcolor=INK, handlelength=0.9, handletextpad=0.4, columnspacing=0.8, borderaxespad=0.0,
    )  # fmt: skip
