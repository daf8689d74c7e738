"""Who sends what to whom in one round of an all-reduce, and whose parts are in each rank's partial sums."""

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from .axes import axes_or_new, dress, names
from .columns import behind, table
from .key import key
from .palette import FAINT, INK, PAPER, RANKS

BELOW = 0.45  # inches from the Axes to what the colours mean
WIDE = 48  # columns at most; longer vectors are shown by so many of their numbers
STRIPES = 192  # that can be told apart side by side
LABELLED = 16  # columns up to which each has its number
EMPTY = "#EEF1F4"
MOST = 16  # ranks
LETTERS = 64  # of all numbers below the columns
IN_A_LINE = 8  # ranks; the parts of more stand in two lines


def colours(ranks):
    """A colour for each of up to 16 ranks: the palette's, then the same half as strong.

    >>> len({*colours(16)})
    16
    """
    pale = tuple("#" + "".join(f"{round(255 * (1 + part) / 2):02x}" for part in to_rgb(colour)) for colour in RANKS)
    return (RANKS + pale)[:ranks]


def places_of(length, ranks=1):
    """Which numbers of a vector are shown: all, or of a long one some, evenly spaced; the fewer, the more ranks there are.

    >>> places_of(3).tolist(), len(places_of(1000, 4)), len(places_of(1000, 8)), len(places_of(1000, 16))
    ([0, 1, 2], 48, 24, 16)
    """
    wide = min(WIDE, STRIPES // min(ranks, IN_A_LINE)) if ranks <= IN_A_LINE else LABELLED
    return np.linspace(0, length - 1, min(length, wide)).round().astype(int) if length else np.arange(0)


def messages(sums, parcels=(), ax=None, title="", ranks_per_node=1, length=None):
    """Draw each rank's vector as a row of cells, in each cell a stripe for every rank whose part is in, and the round's messages.

    Of more than 8 ranks the first 8 have their stripes in the upper half of a cell, the others in the lower half.

    Parameters
    ----------
    sums : array (P, n) of int
        Bit r of a number says that rank r's part is in the partial sum.
    parcels : sequence
        Messages of the round, each with `source`, `dest`, `start` and `count`; drawn as arrows from row to row, at the part of
        the vector that they carry.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    title : str
    ranks_per_node : int
        A dashed line between the ranks of one node and those of the next, if there are several on each.
    length : int, optional
        Numbers in the vector, where `sums` has only those of `places_of`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = messages([[1, 3], [2, 2]], ax=Figure().add_subplot())
    >>> ax.images[0].get_array().shape
    (2, 4, 3)
    """
    sums = np.asarray(sums)
    drawn = Messages(axes_or_new(ax), len(sums), sums.shape[1] if length is None else length, ranks_per_node)
    drawn.show(sums, parcels, title)
    return drawn.ax


class Messages:
    """The cells of one Axes, made once for a number of ranks and numbers, then only recoloured."""

    def __init__(self, ax, ranks, length, ranks_per_node=1):
        self.ax, self.ranks, self.length = dress(ax, "", "part of the vector", "", None), ranks, length
        self.places = places_of(length, ranks)
        self.width, self.lines = max(1, len(self.places)), 1 if ranks <= IN_A_LINE else 2
        self._paint = np.array([to_rgb(colour) for colour in colours(MOST)])
        self._stripes = ranks if self.lines == 1 else IN_A_LINE
        empty = np.ones((ranks * self.lines, self.width * self._stripes, 3))
        self.image = ax.imshow(empty, extent=(0, self.width, ranks, 0), aspect="auto", interpolation="nearest")
        borders = np.arange(ranks_per_node, ranks, ranks_per_node) if ranks_per_node > 1 else []
        self.borders = ax.hlines(borders, 0, self.width, color=FAINT, linewidth=1.5, linestyle=(0, (5, 3)))
        self._frame()
        self.arrows = []

    def _frame(self):
        ax = self.ax
        names(ax.yaxis, np.arange(self.ranks) + 0.5, [f"rank {rank}" for rank in range(self.ranks)])
        labelled = min(LABELLED, LETTERS // (1 + len(str(self.length))))
        every = -(-self.width // labelled)
        names(ax.xaxis, np.arange(0, self.width, every) + 0.5, [str(place) for place in self.places[::every]])
        ax.tick_params(length=0)
        rules = ax.hlines(np.arange(self.ranks + 1), 0, self.width, color=PAPER, linewidth=5 if self.ranks <= 8 else 2)
        bars = ax.vlines(np.arange(self.width + 1), 0, self.ranks, color=PAPER, linewidth=3 if self.width <= LABELLED else 1)
        self._rules = [rules, bars]
        ax.spines[:].set_visible(False)
        ax.set_xlim(0, self.width)
        ax.set_ylim(self.ranks, 0)
        columns = sorted(range(self.ranks), key=lambda rank: (rank % IN_A_LINE, rank))  # lines in the legend as in the cells
        handles = [Patch(color=colours(self.ranks)[rank]) for rank in columns]
        labels = [f"part of rank {rank}" if rank == 0 else str(rank) for rank in columns]
        key(ax, handles, labels, at=(0.0, 0.0), columns=min(IN_A_LINE, self.ranks), handle=1.0, below=BELOW)

    @property
    def moving(self):
        """What changes from round to round, and what lies over it."""
        return [self.image, *self._rules, self.borders, *self.arrows, self.ax._left_title]

    def show(self, sums, parcels=(), title=""):
        """Colour the cells by what is in them, and draw the round's arrows."""
        held = np.asarray(sums)
        held = held if held.shape[1] == len(self.places) else held[:, self.places]
        behind(self.ax, lambda: _columns(held, self.places))
        inside = (held[:, :, None] >> np.arange(self._stripes * self.lines)) & 1
        shade = np.where(inside[..., None] == 1, self._paint[: inside.shape[2]], to_rgb(EMPTY))
        if held.size:
            lines = shade.reshape(self.ranks, self.width, self.lines, self._stripes, 3).swapaxes(1, 2)
            self.image.set_data(lines.reshape(self.ranks * self.lines, self.width * self._stripes, 3))
        self.ax.set_title(title, loc="left", fontsize="medium", fontweight="bold")
        for artist in self.arrows:
            artist.remove()
        self.arrows = []
        if parcels:
            self._draw_arrows(parcels)

    def _draw_arrows(self, parcels):
        x = self._across(parcels)
        begin = np.array([parcel.source + 0.5 for parcel in parcels])
        end = np.array([parcel.dest + 0.5 for parcel in parcels])
        low, high = zip(*map(self._span, parcels))
        carried = self.ax.hlines(begin, np.array(low) + 0.06, np.array(high) - 0.06, color=INK, linewidth=1.6, zorder=5)
        arrows = self.ax.quiver(
            x, begin, np.zeros(len(x)), end - begin, angles="xy", scale_units="xy", scale=1, width=0.0045, color=INK,
            edgecolor=PAPER, linewidth=0.8, headwidth=5, headlength=6, headaxislength=5.5, zorder=6,
        )  # fmt: skip
        self.arrows = [carried, arrows]

    def _across(self, parcels):
        """Where each arrow stands: in the middle of what it carries; those that carry the same side by side."""
        spans = [self._span(parcel) for parcel in parcels]
        seen, places = {}, []
        for span in spans:
            seen[span] = seen.get(span, -1) + 1
            low, high = span
            places.append(low + (high - low) * (seen[span] + 0.5) / spans.count(span))
        return np.array(places)

    def _span(self, parcel):
        start, stop = (0, self.length) if parcel.start is None else (parcel.start, parcel.start + parcel.count)
        low, high = np.searchsorted(self.places, (start, stop))
        return float(low), float(max(high, low + 0.2))


def _columns(held, places):
    """Whose parts are in each number that is shown."""
    rows = [
        (rank, place, [part for part in range(MOST) if int(value) >> part & 1])
        for rank, row in enumerate(held)
        for place, value in zip(places, row)
    ]
    return table(("rank", "place", "parts"), rows)
