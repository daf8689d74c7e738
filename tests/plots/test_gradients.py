"""Pictures of the ranks' gradients."""

import numpy as np
import pytest
from matplotlib.transforms import Bbox

from dtnn.gradients import GradientView
from dtnn.plots import gradient_cosines, gradient_norms, gradients_figure
from dtnn.plots.axes import INCHES
from tests.gradients.made import told


def view_of(ranks, layers=3, **settings):
    dice = np.random.default_rng(0)
    gradients = {f"conv2d_{n}": n * dice.standard_normal((ranks, 30)) + 2.0 for n in range(1, layers + 1)}
    return GradientView(told(gradients, [8] * ranks, **settings))


def on_paper(draw, *arguments):
    from matplotlib.figure import Figure

    return draw(*arguments, ax=Figure().subplots())


def test_norms_are_drawn_for_each_rank_and_the_sum():
    view = view_of(2)
    ax = on_paper(gradient_norms, view)
    lines = {line.get_label(): line for line in ax.lines}
    assert list(lines) == ["rank 0", "rank 1", "sum"]
    np.testing.assert_array_equal(lines["rank 1"].get_xdata(), view.norms[:, 1])
    np.testing.assert_array_equal(lines["sum"].get_xdata(), view.total)
    assert [text.get_text() for text in ax.get_yticklabels()] == view.layers
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first layer is at the top


def test_cosines_are_drawn_and_written():
    view = view_of(3)
    ax = on_paper(gradient_cosines, view, "conv2d_2")
    np.testing.assert_allclose(ax.images[0].get_array(), view.cosines("conv2d_2"))
    written = [text.get_text() for text in ax.texts if text.get_transform() is ax.transData]
    assert written == [f"{value:.2f}" for value in view.cosines("conv2d_2").reshape(-1)]
    assert ax.images[0].get_clim() == (-1, 1)


@pytest.mark.parametrize("ranks", [2, 16])
def test_the_colours_are_told_beside_the_matrix_and_cover_nothing(ranks):
    figure = gradients_figure(view_of(ranks, 3))
    figure.canvas.draw()
    ax = figure.axes[1]
    shades = [path.get_extents() for path in ax.collections[0].get_paths()]
    bar, label = Bbox.union(shades).transformed(ax.transAxes), ax.xaxis.label.get_window_extent()
    assert bar.x0 > ax.get_window_extent().x1
    assert not bar.overlaps(label)
    assert [text.get_text() for text in ax.texts] == ["\N{MINUS SIGN}1", "0", "1"]
    assert all(bar.x1 < text.get_window_extent().x0 < text.get_window_extent().x1 <= figure.bbox.x1 for text in ax.texts)
    low, high = (ax.texts[place].get_window_extent() for place in (0, 2))
    assert abs((low.y0 + low.y1) / 2 - bar.y0) < 3
    assert abs((high.y0 + high.y1) / 2 - bar.y1) < 3


@pytest.mark.parametrize(("ranks", "layers"), [(1, 1), (2, 3), (12, 40)])
def test_the_whole_picture(ranks, layers):
    figure = gradients_figure(view_of(ranks, layers, asked="conv2d_1"))
    png = figure._repr_png_()
    assert png.startswith(b"\x89PNG")
    assert len(png) < 200_000
    [words] = [text.get_text() for text in figure.texts]
    assert words.startswith("gradients of step 7, conv2d_1")
    assert ("noise scale" in words) == (ranks > 1)
    assert view_of(ranks, layers).plot().get_size_inches()[0] == INCHES


def test_ranks_that_have_nothing_leave_their_squares_empty():
    view = GradientView(told({"linear_1": np.array([[0.0, 0.0], [3.0, 4.0]])}, [0, 8]))
    ax = on_paper(gradient_cosines, view)
    assert [text.get_text() for text in ax.texts if text.get_transform() is ax.transData] == ["-", "-", "-", "1.00"]
    assert gradients_figure(view)._repr_png_()
