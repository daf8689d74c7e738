"""The plane of two weights, on Agg."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dtnn.plots.descent import Descent, descent
from dtnn.plots.messages import colours

NAMES = "a", "b"


def bowl(weights):
    """Lowest at (1, 0), twice as steep upwards."""
    return (weights[:, 0] - 1) ** 2 + 2 * weights[:, 1] ** 2


def drawn_of(ranks=2, **how):
    return Descent(Figure(dpi=100).add_subplot(), ranks, NAMES, bowl, **how)


def test_the_surface_is_the_loss():
    drawn = drawn_of()
    drawn.show(np.zeros((1, 2, 2)))
    image, lines = drawn._ground
    assert drawn.ax.get_xlim() == (-3, 3)
    across = np.linspace(-3, 3, image.get_array().shape[0])
    lowest = np.unravel_index(np.argmin(image.get_array()), image.get_array().shape)
    assert (across[lowest[1]], across[lowest[0]]) == pytest.approx((1, 0), abs=0.2)
    for level, path in zip(lines.levels, lines.get_paths()):
        assert bowl(path.vertices) == pytest.approx(level, abs=0.2)


def test_arrows_go_downhill_from_where_the_gradients_are():
    drawn, at = drawn_of(), np.array([[0.0, 1.0], [0.0, -1.0]])
    gradients = np.array([[-2.0, 4.0], [-2.0, -4.0]])
    drawn.show(at[None], at, gradients, gradients.mean(0))
    assert drawn.each.get_offsets().tolist() == at.tolist()
    shown = np.stack([drawn.each.U, drawn.each.V], axis=1)
    assert shown == pytest.approx(-drawn.scale * gradients)
    assert np.linalg.norm(shown, axis=1).max() < 0.3 * drawn.side
    assert (drawn.mean.U[0], drawn.mean.V[0]) == pytest.approx((2 * drawn.scale, 0))
    assert drawn.mean.get_offsets().tolist() == [[0, 0]]
    assert np.allclose(drawn.each.get_facecolors()[:, :3], [to_rgb(colour) for colour in colours(2)])
    assert f"gradient × {drawn.scale:.2g}" in drawn.words.get_text()


def test_the_scale_stays_as_long_as_it_can():
    drawn, path = drawn_of(), np.zeros((1, 2, 2))
    drawn.show(path, path[0], np.ones((2, 2)), np.ones(2))
    scale = drawn.scale
    drawn.show(path, path[0], 1.1 * np.ones((2, 2)), 1.1 * np.ones(2))
    assert drawn.scale == scale
    drawn.show(path, path[0], 0.01 * np.ones((2, 2)), 0.01 * np.ones(2))
    assert drawn.scale == pytest.approx(100 * scale)


def test_the_frame_moves_when_the_way_comes_to_its_edge():
    drawn = drawn_of(1)
    drawn.show(np.zeros((1, 1, 2)))
    frame, ground = drawn.ax.get_xlim(), drawn._ground
    drawn.show(np.array([[[0.0, 0.0]], [[1.0, 1.0]]]))
    assert drawn.ax.get_xlim() == frame
    assert drawn._ground is ground, "nothing is asked for again"
    drawn.show(np.array([[[0.0, 0.0]], [[-2.9, 0.0]]]))
    low, high = drawn.ax.get_xlim()
    assert low < -2.9 - 0.1 * (high - low)
    assert high > 0
    assert np.diff(drawn.ax.get_xlim()) == pytest.approx(np.diff(drawn.ax.get_ylim()))
    assert len(drawn.ax.images) == 1, "the old surface is gone"
    drawn.ax.figure.savefig("/dev/null", format="png")


@pytest.mark.parametrize("seed", range(20))
def test_a_frame_that_was_just_found_is_good(seed):
    """Else the surface would be asked for at every picture."""
    dice = np.random.default_rng(seed)
    path = np.cumsum(dice.normal(dice.normal(size=2), 0.3, (50, 3, 2)), axis=0)
    drawn = drawn_of(3)
    drawn.show(path)
    ground = drawn._ground
    drawn.show(path)
    assert drawn._ground is ground


def test_replicas_that_part_have_ways_of_their_own_and_a_server_no_part_in_the_mean():
    drawn, path = drawn_of(3, servers=1), np.zeros((2, 3, 2))
    drawn.show(path)
    assert [len(way.get_xdata()) for way in drawn.ways] == [0, 0, 0]
    path[1] = [[9, 9], [1, 0], [0, 1]]
    drawn.show(path)
    assert [way.get_xdata().tolist() for way in drawn.ways] == [[0, 9], [0, 1], [0, 0]]
    assert drawn.way.get_xdata().tolist() == [0, 0.5]
    assert drawn.now.get_xydata().tolist() == [[0.5, 0.5]]
    assert drawn.replicas.get_offsets().tolist() == path[1].tolist()


def test_as_a_function():
    ax = descent([[0, 0], [0.5, 0]], bowl, gradients=[[-1, 1], [-1, -1]], ax=Figure().add_subplot(), names=NAMES)
    assert (ax.get_xlabel(), ax.get_ylabel()) == NAMES
    way = next(line for line in ax.lines if line.get_label() == "mean")
    assert way.get_xydata().tolist() == [[0, 0], [0.5, 0]]
