"""A layout that looks at each text once: matplotlib's own looks four times, which is half of the time that a picture takes."""

from matplotlib.layout_engine import LayoutEngine

PAD = 0.05  # inches around each Axes and what belongs to it
ROUNDS = 3  # at most; a second is needed where the ticks are others at the new size


class Fitted(LayoutEngine):
    """Places the Axes of one grid so that all their texts and legends have room; texts of the figure itself stand above them.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure(figsize=(4, 3), dpi=100, layout=Fitted())
    >>> left, right = figure.subplots(1, 2)
    >>> figure.draw_without_rendering()
    >>> bool(left.get_tightbbox().x1 < right.get_tightbbox().x0)
    True
    """

    _adjust_compatible = False
    _colorbar_gridspec = False

    def set(self, **parameters):
        """There is nothing to be set."""
        if parameters:
            raise TypeError(f"a Fitted layout takes no {', '.join(map(repr, parameters))}")

    def execute(self, figure):
        """Move the Axes of the figure that are in a grid."""
        axes = [ax for ax in figure.axes if ax.get_subplotspec() is not None]
        for _ in range(ROUNDS if axes else 0):
            before = _ticks(axes)
            _place(axes, figure)
            if _ticks(axes) == before:
                break


def _ticks(axes):
    """Where the ticks are, whose labels need room; an axis of names has a list of them, any other an array."""
    return [list(axis.get_majorticklocs()) for ax in axes for axis in (ax.xaxis, ax.yaxis)]


def _place(axes, figure):
    spots, sides = [ax.get_subplotspec() for ax in axes], [_sides(ax) for ax in axes]
    grid, (width, height), pad = spots[0].get_gridspec(), figure.bbox.size, PAD * figure.dpi
    above = max((height - text.get_window_extent().y0 + pad for text in figure.texts), default=0.0)
    columns = cells(
        width, grid.get_width_ratios(), pad, [(spot.colspan, left, right) for spot, (left, right, _, _) in zip(spots, sides)]
    )
    rows = cells(
        height - above, grid.get_height_ratios(), pad, [(spot.rowspan, up, down) for spot, (_, _, up, down) in zip(spots, sides)]
    )
    for ax, spot in zip(axes, spots):
        left, right = columns[spot.colspan.start][0], columns[spot.colspan.stop - 1][1]
        top, bottom = (height - above - rows[row][end] for row, end in ((spot.rowspan.start, 0), (spot.rowspan.stop - 1, 1)))
        ax.set_position((left / width, bottom / height, (right - left) / width, (top - bottom) / height))
        ax.set_in_layout(True)  # which set_position has ended


def _sides(ax):
    """Pixels that the texts of an Axes take at its left, at its right, above and below."""
    outer, inner = ax.get_tightbbox(for_layout_only=True), ax.bbox
    taken = inner.x0 - outer.x0, outer.x1 - inner.x1, outer.y1 - inner.y1, inner.y0 - outer.y0
    return [max(0.0, side) for side in taken]


def cells(length, ratios, pad, needs):
    """Where the cells of a row (or a column) begin and end, if these share what the texts between them leave.

    >>> cells(100, (2, 1), 1, [(range(0, 1), 10, 0), (range(1, 2), 6, 20)])
    [(11.0, 51.0), (59.0, 79.0)]
    """
    before, after = [0.0] * len(ratios), [0.0] * len(ratios)
    for span, one, other in needs:
        before[span.start] = max(before[span.start], one)
        after[span.stop - 1] = max(after[span.stop - 1], other)
    left = length - sum(before) - sum(after) - 2 * pad * len(ratios)
    found, at = [], 0.0
    for ratio, one, other in zip(ratios, before, after):
        begin, share = at + pad + one, max(1.0, left * ratio / sum(ratios))
        found.append((begin, begin + share))
        at = begin + share + other + pad
    return found
