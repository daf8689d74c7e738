"""A training of two weights: the loss over their plane, the way that they have gone, and where each rank's gradient points."""

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from .axes import axes_or_new, dress
from .columns import behind, table
from .messages import colours
from .palette import FAINT, IDEAL, INK, PAPER

CELLS = 33  # places a side at which the loss is asked
LEVELS = 10  # lines of equal loss
REACH = 0.3  # of the plane's side, the longest arrow at most
LEAST = 6.0  # the plane's side
EDGE = 0.1  # of the side, which the way keeps free
APART = 1e-4  # difference of weights from which replicas have ways of their own
DEPTH = LinearSegmentedColormap.from_list("depth", ["#D3E6F4", "#F4F8FB", "#FFFFFF"])


def descent(path, losses, at=None, gradients=None, mean=None, ax=None, names=("first weight", "second weight")):
    """Draw the way of two weights over the surface of their loss.

    Parameters
    ----------
    path : array (S, 2) or (S, P, 2)
        The weights, or those of each of P replicas, from the first ones on; the last are the present ones.
    losses : function
        Weights (K, 2) -> the loss at each, (K,).
    at, gradients : array (P, 2), optional
        Each rank's gradient, and the weights that it is for; drawn downhill, as a rank would go that were alone.
    mean : array (2,), optional
        The gradient of all ranks; without it, the mean of theirs.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    names : pair of str
        Of the weights.

    Returns
    -------
    matplotlib Axes
        Its line "mean" is the way of the replicas' mean.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = descent([[1, 1], [0.5, 0.5]], lambda w: (w**2).sum(1), ax=Figure().add_subplot(), names=("a", "b"))
    >>> ax.get_xlabel(), [line.get_xdata().tolist() for line in ax.lines if line.get_label() == "mean"]
    ('a', [[1.0, 0.5]])
    """
    path = np.asarray(path, np.float64)
    path = path[:, None] if path.ndim == 2 else path
    ranks = path.shape[1] if gradients is None else len(gradients)
    drawn = Descent(axes_or_new(ax, (4.4, 4.4)), ranks, names, losses)
    if gradients is not None:
        gradients = np.asarray(gradients, np.float64)
        at = np.broadcast_to(path[-1] if at is None else at, gradients.shape)
        mean = gradients.mean(0) if mean is None else mean
    drawn.show(path, at, gradients, mean)
    return drawn.ax


class Descent:
    """The plane of two weights in one Axes, made once and then only moved; its surface is asked for when the frame changes."""

    def __init__(self, ax, ranks, names, losses, servers=0):
        self.ax, self._losses, self._servers = dress(ax, "The two weights", *names, None), losses, servers
        self.low, self.side, self.scale = None, 0.0, 0.0
        ax.set_box_aspect(1)  # as many pixels a unit across as upwards: gradients stand upright on lines of equal loss
        self._ground, paint = [], colours(ranks)
        self.ways = [ax.plot([], [], color=colour, linewidth=0.9, zorder=3)[0] for colour in paint]
        self.way = ax.plot([], [], color=INK, linewidth=1.6, zorder=4, label="mean")[0]
        self.start = ax.plot([], [], "o", ms=6, mfc=PAPER, mec=INK, zorder=5)[0]
        self.replicas = ax.scatter(np.zeros(ranks), np.zeros(ranks), s=22, color=paint, zorder=6)
        self.now = ax.plot([], [], "o", ms=8, mfc=INK, mec=PAPER, zorder=6)[0]
        self.each = _arrows(ax, ranks, paint, 0.011, 7)
        self.mean = _arrows(ax, 1, INK, 0.016, 8)
        self.used = _arrows(ax, 1, FAINT, 0.009, 9)
        paper = {"boxstyle": "square,pad=0.2", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.85}
        how = {"transform": ax.transAxes, "va": "top", "fontsize": "small", "color": FAINT, "bbox": paper, "zorder": 9}
        self.words = ax.text(0.02, 0.98, "", **how)
        self.words.set_in_layout(False)

    @property
    def moving(self):
        """What changes while the frame stays."""
        return [*self.ways, self.way, self.start, self.replicas, self.now, self.each, self.mean, self.used, self.words]

    def show(self, path, at=None, gradients=None, mean=None, used=None, words=""):
        """Move everything: path (S, P, 2); at, gradients (P, 2); mean, used (2,) or None; servers have no part in means."""
        path = np.asarray(path)
        behind(self.ax, lambda: _columns(path))
        middle = path[:, self._servers :].mean(1)
        self._frame(path)
        apart = np.ptp(path, axis=1).max() > APART
        for rank, way in enumerate(self.ways):
            way.set_data(*(path[:, rank].T if apart and rank < path.shape[1] else ([], [])))
        self.replicas.set_offsets(path[-1] if apart else np.full((len(path[-1]), 2), np.nan))
        self.way.set_data(*middle.T)
        self.start.set_data(*middle[:1].T)
        self.now.set_data(*middle[-1:].T)
        self._point(at, gradients, mean, used)
        factor = f"arrows: −gradient × {self.scale:.2g}" if gradients is not None else ""
        self.words.set_text("\n".join(line for line in (words, factor) if line))

    def _point(self, at, gradients, mean, used):
        """Arrows downhill, of one scale that changes seldom, or nothing could be compared from step to step."""
        shown = [vector for vector in (gradients, mean, used) if vector is not None]
        longest = max((np.linalg.norm(np.atleast_2d(vectors), axis=1).max() for vectors in shown), default=0.0)
        if longest and not 0.4 * REACH * self.side < longest * self.scale <= REACH * self.side:
            self.scale = REACH * self.side / (1.3 * longest)
        middle = None if at is None else np.mean(at[self._servers :], axis=0)
        for arrows, vectors, places in ((self.each, gradients, at), (self.mean, mean, middle), (self.used, used, middle)):
            count = len(arrows.U)
            there = vectors is not None
            arrows.set_offsets(np.reshape(places, (count, 2)) if there else np.full((count, 2), self.low))
            arrows.set_UVC(*(-self.scale * np.reshape(vectors, (count, 2)).T if there else np.zeros((2, count))))

    def _frame(self, path):
        """A square with the origin and the whole way in it, and room to go on; another one when the way comes to its edge."""
        corners = np.vstack([path.reshape(-1, 2), np.zeros((1, 2))])
        low, high = corners.min(0), corners.max(0)
        edge = EDGE * self.side
        if self.low is None or (low < self.low + edge).any() or (high > self.low + self.side - edge).any():
            gone = (path[-1] - path[0]).mean(0)
            self.side = max(LEAST, 1.8 * (high - low).max())
            self.low, self.scale = (low + high) / 2 + 0.15 * gone - self.side / 2, 0.0
            self.ax.set(xlim=(self.low[0], self.low[0] + self.side), ylim=(self.low[1], self.low[1] + self.side))
            self._draw_surface()

    def _draw_surface(self):
        for artist in self._ground:
            artist.remove()
        across, up = (np.linspace(low, low + self.side, CELLS) for low in self.low)
        grid = np.asarray(self._losses(np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2))).reshape(CELLS, CELLS)
        low, high = grid.min(), grid.max()
        # squares of equal steps: the lines are dense where it is flat, or a valley would have none
        levels = low + (high - low) * (np.arange(1, LEVELS + 1) / (LEVELS + 1)) ** 2 if high > low else [low]
        extent = (across[0], across[-1], up[0], up[-1])
        shade = np.sqrt(np.maximum(0, grid - low))
        how = {"origin": "lower", "cmap": DEPTH, "aspect": "auto", "interpolation": "bilinear", "zorder": 0}
        image = self.ax.imshow(shade, extent=extent, **how)
        lines = self.ax.contour(across, up, grid, levels=levels, colors=IDEAL, linewidths=0.7, zorder=1)
        lines.clabel(levels=levels[1::3], fmt="%.2g", fontsize=8, colors=[FAINT])
        self._ground = [image, lines]  # which takes its numbers with it
        self.ax.set(xlim=extent[:2], ylim=extent[2:])


def _arrows(ax, count, colour, width, zorder):
    zero = np.zeros(count)
    return ax.quiver(
        zero, zero, zero, zero, color=colour, width=width, zorder=zorder, angles="xy", scale_units="xy", scale=1,
        minlength=0.1, edgecolor=PAPER, linewidth=0.6,
    )  # fmt: skip


def _columns(path):
    """The two weights of each replica after each step."""
    rows = [(step, replica, *weights) for step, each in enumerate(path) for replica, weights in enumerate(each)]
    return table(("step", "replica", "first", "second"), rows)
