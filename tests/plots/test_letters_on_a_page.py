"""No letter of a picture is lower than 9 pixels where a page of 1,000 leaves 532 pixels for it."""

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.text import Text

from dtnn.gradients import GradientView
from dtnn.plots import Timeline, figure, gradients_figure
from dtnn.plots.axes import STYLE, sheet
from dtnn.plots.by_rank import by_rank
from dtnn.plots.confusion import confusion
from dtnn.plots.histograms import histograms
from dtnn.plots.overlay import overlay_figure
from dtnn.plots.tiles import tiles
from dtnn.plots.time_by_rank import time_by_rank
from tests.gradients.made import told
from tests.plots.conftest import synthetic
from tests.tracing.made import run_of as traced

PAGE, LOWEST = 532, 9  # pixels: of the page for a picture, and of a letter, from its lowest to its highest part


def alone(draw, height=3.9):
    """A figure as the lab makes it of one Axes."""
    drawn = sheet(height)
    draw(drawn.add_subplot())
    return drawn


def run(ranks):
    return synthetic(ranks)


PICTURES = {
    "a run": lambda: figure(run(2)),
    "a run of 16 ranks": lambda: figure(run(16)),
    "a step": lambda: Timeline(traced(ranks=2)).figure(),
    "gradients of 16 ranks": lambda: gradients_figure(GradientView(told({"linear_1": np.ones((16, 3))}, [4] * 16))),
    "runs": lambda: overlay_figure({"a": run(2), "b": run(2)}),
    "work": lambda: alone(lambda ax: by_rank(run(16), ax, "work")),
    "time": lambda: alone(lambda ax: time_by_rank(run(16), ax)),
    "confusion": lambda: alone(lambda ax: confusion(np.full((10, 10), 1701), ax=ax), 5.8),
    "weights": lambda: alone(lambda ax: histograms({"linear_1": np.arange(9.0)}, ax)),
    "samples": lambda: alone(lambda ax: tiles([np.ones((4, 4))] * 6, ["a"] * 6, ax), 5.8),
}


@pytest.mark.parametrize("name", PICTURES)
def test_letters_are_large_enough(name):
    with rc_context(STYLE):
        drawn = PICTURES[name]()
        drawn.draw_without_rendering()
        texts = [text for text in drawn.findobj(Text) if text.get_visible() and text.get_text().strip()]
        texts += [text for ax in drawn.axes if ax.get_legend() for text in ax.get_legend().get_texts()]
        sizes = {text.get_text(): text.get_fontsize() for text in texts}
        sizes |= {word: artist._font.get_size_in_points() for ax in drawn.axes for artist in ax.artists for word in artist.words}
        ticks = [axis.get_tick_params()["labelsize"] for ax in drawn.axes for axis in (ax.xaxis, ax.yaxis) if _sized(axis)]
        sizes |= {f"tick of size {size}": Text(fontsize=size).get_fontsize() for size in ticks}
    assert sizes
    pixels = drawn.dpi / 72 * PAGE / drawn.bbox.width
    low = {text: size * pixels for text, size in sizes.items() if size * pixels < LOWEST}
    assert not low


def _sized(axis):
    return "labelsize" in axis.get_tick_params()
