"""The gradients of a step as a table: a line for each layer, as text and for a page."""

import math
from html import escape

import numpy as np

from .noise_scale import ratio


def text(view):
    """What a `GradientView` tells, as lines of text."""
    cells = [_head(view.ranks), *(_line(view, layer) for layer in view.layers)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in cells]
    noise = noise_words(view) if view.ranks > 1 else ""
    return "\n".join(filter(None, [view.title, *lines, noise, view.warning, view.left_out and f"not in full: {view.left_out}"]))


def page(view):
    """The same as HTML; on a narrow page the columns of many ranks are moved to and fro."""
    head = "".join(f"<th>{escape(name)}</th>" for name in _head(view.ranks))
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _line(view, layer))}</tr>" for layer in view.layers)
    below = "".join(f"<p>{escape(words)}</p>" for words in (view.warning, view.left_out) if words)
    table = f'<div style="overflow-x: auto; max-width: 100%"><table><tr>{head}</tr>{body}</table></div>'
    return f"<p>{escape(view.title)}</p>{table}{below}"


def noise_words(view):
    """The noise scale of a step, which tells little by itself and may hide behind the noise, in words."""
    scale = view.noise_scale
    if math.isnan(scale):
        return "no noise scale: in this step the noise hides the signal"
    if scale <= 0:
        return "no noise scale: in this step the ranks differ less than noise would make them"
    return f"noise scale {f'{scale:,.0f}' if scale >= 100 else number(scale)} samples (one step's estimate)"


def _head(ranks):
    return ["layer", *(f"rank {rank}" for rank in range(ranks)), "sum", "cosine", "noise scale"]


def _line(view, layer):
    place = view.layers.index(layer)
    cosines = view.cosines(layer)[~np.eye(view.ranks, dtype=bool)]
    cosine = np.nanmean(cosines) if np.isfinite(cosines).any() else math.nan
    scale = ratio(*view.signal_and_noise(layer))
    noise = number(scale) if scale > 0 else "-"
    return [layer, *map(number, view.norms[place]), number(view.total[place]), number(cosine), noise]


def number(value):
    """Three digits; "-" for what is not known.

    >>> number(0.12345), number(float("nan"))
    ('0.123', '-')
    """
    return "-" if value != value else f"{value:.3g}"
