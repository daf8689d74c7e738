"""Each pixel of the screen is one of the image's own."""

import io

import numpy as np
from matplotlib.figure import Figure

from dtnn.plots.canvas import Canvas
from dtnn.plots.mosaic import Mosaic

RED, GREEN, BLUE, BLACK = (255, 0, 0), (0, 255, 0), (0, 0, 255), (0, 0, 0)
SHEET = np.array([[RED, GREEN], [BLUE, BLACK]], np.uint8)


def drawn(extent=(0, 2, 0, 2)):
    figure = Figure(figsize=(1, 1), dpi=100)
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, 2), ylim=(0, 2))
    ax.set_axis_off()
    ax.add_image(Mosaic(ax, SHEET, extent))
    canvas = Canvas(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def test_the_first_row_is_above_and_every_pixel_is_whole():
    seen = drawn()
    for row, column, colour in ((0, 0, RED), (0, 50, GREEN), (50, 0, BLUE), (50, 50, BLACK)):
        assert (seen[row : row + 50, column : column + 50] == colour).all()


def test_what_lies_outside_of_the_axes_is_cut_off():
    seen = drawn((1, 5, -2, 2))
    assert (seen[:, :50] == 255).all()
    assert (seen[:, 50:] == RED).all()
    assert (drawn((5, 6, 5, 6)) == 255).all()


def test_it_can_be_written_as_a_drawing():
    figure = Figure()
    ax = figure.add_subplot()
    ax.add_image(Mosaic(ax, SHEET, (0, 1, 0, 1)))
    written = io.BytesIO()
    figure.savefig(written, format="svg")
    assert b"data:image/png;base64" in written.getvalue()
