"""The layout that looks at each text once."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from dtnn.plots.fitted import Fitted, cells


def laid_out(figure):
    figure.draw_without_rendering()
    return [ax.get_tightbbox(for_layout_only=True) for ax in figure.axes]


def test_nothing_sticks_out_or_overlaps():
    figure = Figure(figsize=(8, 4), dpi=100, layout=Fitted())
    for ax in figure.subplots(2, 2, width_ratios=(2, 1)).flat:
        ax.plot([0, 1], [1e-3, 123456.0], label="a line")
        ax.set(xlabel="x", ylabel="a long name", title="title")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    boxes = laid_out(figure)
    assert all(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= 800 and box.y1 <= 400 for box in boxes)
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])
    widths = [ax.bbox.width for ax in figure.axes]
    assert widths[0] / widths[1] == pytest.approx(2)


def test_words_of_the_figure_stand_above():
    figure = Figure(figsize=(4, 3), dpi=100, layout=Fitted())
    figure.subplots()
    words = figure.text(0.01, 0.99, "one\ntwo\nthree", va="top")
    [box] = laid_out(figure)
    assert box.y1 < words.get_window_extent().y0


def test_other_ticks_at_another_size_have_room_too():
    figure = Figure(figsize=(3, 9), dpi=100, layout=Fitted())
    ax = figure.subplots()
    ax.set_position((0.1, 0.45, 0.8, 0.05))
    ax.set_in_layout(True)
    ax.set_ylim(0, 1.0001)
    before = ax.get_yticks().tolist()
    [box] = laid_out(figure)
    assert ax.get_yticks().tolist() != before
    assert box.x0 >= 0


def test_drawn_again_it_stays_where_it_is():
    figure = Figure(layout=Fitted())
    figure.subplots(1, 3)
    laid_out(figure)
    before = [ax.get_position().bounds for ax in figure.axes]
    laid_out(figure)
    np.testing.assert_allclose([ax.get_position().bounds for ax in figure.axes], before)


def test_a_figure_without_axes_and_one_placed_by_hand():
    laid_out(Figure(layout=Fitted()))
    figure = Figure(layout=Fitted())
    figure.add_axes((0.2, 0.2, 0.5, 0.5))
    laid_out(figure)
    assert figure.axes[0].get_position().bounds == pytest.approx((0.2, 0.2, 0.5, 0.5))


def test_there_is_nothing_to_set():
    with pytest.raises(TypeError, match="takes no 'rect'"):
        Fitted().set(rect=(0, 0, 1, 1))


def test_a_cell_too_small_for_its_texts_is_still_there():
    [(begin, end)] = cells(10, (1,), 1, [(range(1), 30, 30)])
    assert end > begin


def test_an_axis_of_names_has_ticks_too():
    figure = Figure(figsize=(4, 3), dpi=100, layout=Fitted())
    figure.subplots().bar(["one rank", "two ranks"], [1.0, 2.0])
    (box,) = laid_out(figure)
    assert box.y0 >= 0
    assert box.height > 250
