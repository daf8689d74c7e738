"""The gradients of all ranks in one step, in pictures: how large they are, and whether they agree."""

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

from .axes import axes_or_new, dress, names, paper, sheet
from .boxes import boxes
from .columns import behind, cells
from .fitted import Fitted
from .key import key
from .letters import letters
from .messages import colours
from .palette import FAINT, IDEAL, INK, PAPER, on

MOST_ROWS = 24  # layers whose names can be read
MOST_RANKS = 16  # that can be told apart
MOST_TICKS = 8  # ranks that have a number at the matrix' edge
SHADES = 32  # of the bar that tells what colours mean
MOST_NUMBERS = 10  # ranks up to which each cosine is written into its square


def gradient_norms(view, ax=None):
    """Draw the 2-norm of each layer's gradient: a dot for each rank's own, a line for the sum.

    Parameters
    ----------
    view : GradientView
        Anything with `layers`, `norms` (layers, ranks), `total` (layers,).
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.

    Returns
    -------
    matplotlib Axes
        Its lines are labelled "rank 0" ... and "sum"; layers go from the top to the bottom.
    """
    ax = dress(axes_or_new(ax), "Gradient of each layer", "2-norm", grid="both")
    who = [*range(view.ranks), "sum"]
    behind(ax, lambda: cells(("layer", "rank", "norm"), np.column_stack([view.norms, view.total]), view.layers, who))
    places = np.arange(len(view.layers))
    paint = colours(MOST_RANKS)
    for rank in range(view.ranks):
        beside = 0.14 * (rank - (view.ranks - 1) / 2) / max(1, (view.ranks - 1) / 2)  # ranks that agree are still seen
        dots = {"ls": "", "marker": "o", "ms": 6, "alpha": 0.85, "color": paint[rank % len(paint)], "label": f"rank {rank}"}
        ax.add_line(Line2D(view.norms[:, rank], places + beside, **dots))
    ax.add_line(Line2D(view.total, places, ls="", marker="|", ms=18, mew=2.0, color=INK, label="sum"))
    ax.autoscale_view()
    shown = np.concatenate([view.norms.reshape(-1), view.total])
    if np.any(shown > 0) and shown[shown > 0].max() > 30 * shown[shown > 0].min():
        ax.set_xscale("log")
    else:
        ax.set_xlim(left=0)
    _names(ax, view.layers)
    key(ax, ax.lines, [line.get_label() for line in ax.lines], handle=0.8)
    return ax


def gradient_cosines(view, layer=None, ax=None):
    """Draw the cosines between the ranks' own gradients as a matrix.

    Parameters
    ----------
    view : GradientView
        Anything with `cosines(layer)` and `ranks`.
    layer : str, optional
        Which; all layers together without it.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        Blue where two ranks pull the same way, white where they have nothing in common, red where they pull apart.
    """
    import matplotlib

    ax = dress(axes_or_new(ax, (4.2, 3.6)), f"Cosine between ranks\n{layer or 'all layers'}", "rank", "rank", grid="")
    cosines, paint = view.cosines(layer), matplotlib.colormaps["RdBu"].with_extremes(bad=PAPER)
    behind(ax, lambda: cells(("rank", "other", "cosine"), cosines))
    ax.imshow(np.ma.masked_invalid(cosines), vmin=-1, vmax=1, cmap=paint, aspect="equal")
    if view.ranks <= MOST_NUMBERS:
        known = np.isfinite(cosines).ravel()
        inks = [on(to_hex(shade)) if there else FAINT for shade, there in zip(paint((cosines.ravel() + 1) / 2), known)]
        words = [f"{value:.2f}" if there else "-" for value, there in zip(cosines.flat, known)]
        letters(ax, [(column, row) for row, column in np.ndindex(cosines.shape)], words, inks)
    ticks = range(0, view.ranks, 1 + (view.ranks - 1) // MOST_TICKS)
    for axis in ax.xaxis, ax.yaxis:
        names(axis, ticks, map(str, ticks))
    ax.set_anchor("N")
    _bar(ax, paint)
    return ax


def _bar(ax, paint):
    """Which colour means what, beside the Axes."""
    low = np.linspace(0.1, 0.9, SHADES, endpoint=False)
    shades = paint(np.linspace(0, 1, SHADES))
    places = [(1.06, each, 0.03, 0.8 / SHADES) for each in low]
    bar = boxes(ax, places, facecolors=shades, edgecolors=shades, linewidths=0.5, transform=ax.transAxes, clip_on=False)
    bar.set_in_layout(False)
    for value, height in (("\N{MINUS SIGN}1", 0.1), ("0", 0.5), ("1", 0.9)):
        ax.text(1.11, height, value, transform=ax.transAxes, va="center", fontsize="small", color=INK)


def gradients_figure(view):
    """Both, with what else is known in words above them, as a matplotlib Figure.

    Parameters
    ----------
    view : GradientView
        Also with `title`, `noise_words`, `warning`, `asked`.
    """
    rows = min(max(len(view.layers), 4), MOST_ROWS)
    words = list(filter(None, [view.title, view.noise_words if view.ranks > 1 else "", view.warning]))
    figure = sheet(2.1 + 0.2 * rows + 0.2 * len(words), layout=Fitted())
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    gradient_norms(view, left)
    of_it = (name for name in (view.asked, view.asked.rpartition(".")[0]) if name in view.layers)  # of a parameter its layer
    gradient_cosines(view, next(of_it, None), right)
    figure.text(0.012, 0.99, "\n".join(words), ha="left", va="top", fontsize="medium", color=FAINT)
    return paper(figure)


def _names(ax, layers):
    """The layers' names, as many as can be read, the first one at the top."""
    step = -(-len(layers) // MOST_ROWS) if layers else 1
    names(ax.yaxis, range(0, len(layers), step), layers[::step], "small")
    ax.set_ylim(len(layers) - 0.5, -0.5)
    ax.grid(axis="y", color=IDEAL, alpha=0.15)
