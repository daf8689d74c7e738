"""Canvases as PNGs."""

import io

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from dtnn.plots.axes import Sheet
from dtnn.plots.palette import RANKS
from dtnn.plots.png import png


@pytest.mark.parametrize("colours", [128, None])
def test_colours_stay_what_they_are(colours):
    figure = Figure(figsize=(4, 2), dpi=100)
    canvas = FigureCanvasAgg(figure)
    figure.add_axes((0, 0, 1, 1)).bar(range(len(RANKS)), 1, color=RANKS)
    canvas.draw()
    seen = Image.open(io.BytesIO(png(canvas, colours))).convert("RGB")
    assert seen.size == (400, 200)
    np.testing.assert_allclose(np.asarray(seen, int), np.asarray(canvas.buffer_rgba(), int)[..., :3], atol=24)


def test_a_sheet_shows_photographs_in_all_their_colours():
    sheet = Sheet(figsize=(2, 2), dpi=100)
    photograph = np.random.default_rng(0).random((50, 50, 3))
    sheet.add_axes((0, 0, 1, 1)).imshow(photograph)
    seen = Image.open(io.BytesIO(sheet._repr_png_()))
    assert seen.mode == "RGB"
    assert len(seen.getcolors(10**5)) > 2000


def test_a_sheet_that_was_copied_is_shown_too():
    import copy

    assert copy.deepcopy(Sheet(figsize=(2, 2), dpi=100))._repr_png_()[1:4] == b"PNG"
