"""The picture of the playground, on Agg."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dtnn.plots.messages import colours
from dtnn.plots.palette import INK
from dtnn.plots.plane import Arrows, Plane, places, plane

POINTS, LABELS, OWNERS = [[0, 0], [0.5, 0], [0, 0.5], [0.5, 0.5]], [0, 1, 1, 0], [0, 1, 2, 0]


def outputs(cells=20):
    """Class 1 where x > 0."""
    return (places(cells)[:, 0] > 0).astype(float)


def test_points_have_their_ranks_colours_and_the_batch_is_large():
    ax = plane(POINTS, LABELS, OWNERS, outputs(), ax=Figure().add_subplot(), now=np.array([True, False, True, False]))
    round_ones, squares = ax.collections[:2]
    assert np.allclose(round_ones.get_facecolors()[:, :3], [to_rgb(colours(3)[0])] * 2)
    assert np.allclose(squares.get_facecolors()[:, :3], [to_rgb(colour) for colour in colours(3)[1:]])
    assert round_ones.get_sizes().tolist() == [46, 13]


def test_the_border_is_where_both_classes_are_as_likely():
    drawn = Plane(Figure().add_subplot(), POINTS, LABELS, 3)
    drawn.show(OWNERS, outputs(), each=[outputs(), 1 - outputs()])
    paths = drawn.borders.get_paths()
    assert len(paths) == 3
    assert max(np.abs(path.vertices[:, 0]).max() for path in paths) < 0.2
    assert np.allclose(drawn.borders.get_colors()[:, :3], [to_rgb(colour) for colour in (*colours(3)[:2], INK)])
    drawn.show(OWNERS, np.full(400, 0.2))
    assert len(drawn.borders.get_paths()) == 0, "old borders go"
    drawn.ax.figure.savefig("/dev/null", format="png")


def test_arrows_move_and_the_frame_seldom():
    arrows = Arrows(Figure().add_subplot(), 2)
    arrows.show([[1, 2], [1, -2]], [1, 0], None, "agreed")
    assert (arrows.each.U.tolist(), arrows.each.V.tolist()) == ([1, 1], [2, -2])
    assert arrows.words.get_text() == "agreed"
    frame = arrows.ax.get_xlim()
    arrows.show([[1, 1.5], [1, -1.5]], [1, 0], [0.9, 0.1])
    assert arrows.ax.get_xlim() == frame
    assert arrows.used.U.tolist() == [0.9]
    arrows.show([[10, 2], [1, -2]], [5, 0], None)
    assert arrows.ax.get_xlim()[1] == pytest.approx(1.3 * 1.15 * 10)
