"""The picture of an all-reduce, on Agg."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dtnn.plots.messages import WIDE, Messages, colours, messages, places_of


def parcel(source, dest, start, count):
    return SimpleNamespace(source=source, dest=dest, start=start, count=count)


def axes():
    return Figure().add_subplot()


def test_a_stripe_for_each_rank_whose_part_is_in():
    ax = messages([[0b01, 0b11], [0b10, 0b10]], ax=axes())
    shown = ax.images[0].get_array()
    assert shown.shape == (2, 4, 3)
    one, two = (to_rgb(colour) for colour in colours(2))
    empty = to_rgb("#EEF1F4")
    assert np.allclose(shown, [[one, empty, one, two], [empty, two, empty, two]])


def test_a_dashed_line_between_nodes():
    assert [len(Messages(axes(), 5, 3, each).borders.get_segments()) for each in (1, 2, 5)] == [0, 2, 0]
    ax = messages([[1], [2], [4]], ax=axes(), ranks_per_node=2)
    (border,) = next(each for each in ax.collections if len(each.get_segments()) == 1).get_segments()
    assert border[:, 1].tolist() == [2, 2]


def test_arrows_go_from_row_to_row_at_what_they_carry():
    sent = [parcel(0, 1, 0, 4), parcel(1, 2, 4, 4), parcel(2, 0, 4, 4)]
    ax = messages(np.ones((3, 8), int), sent, ax=axes(), title="round 1")
    arrows = ax.collections[-1]
    assert arrows.X.tolist() == [2, 5, 7]
    assert arrows.Y.tolist() == [0.5, 1.5, 2.5]
    assert arrows.V.tolist() == [1, 1, -2]
    assert ax.get_title(loc="left") == "round 1"


def test_the_next_round_replaces_the_last():
    drawn = Messages(axes(), 2, 2)
    before = len(drawn.ax.collections)
    for _ in range(3):
        drawn.show([[1, 1], [2, 2]], [parcel(0, 1, None, 2)])
    assert len(drawn.ax.collections) == before + 2
    drawn.show([[1, 1], [2, 2]])
    assert len(drawn.ax.collections) == before


@pytest.mark.parametrize(("ranks", "length"), [(1, 1), (16, 100_000), (4, 0)])
def test_few_and_many(ranks, length):
    drawn = Messages(axes(), ranks, length)
    drawn.show(np.full((ranks, length), 2**ranks - 1), [parcel(0, ranks - 1, 0, length // 2)])
    assert drawn.image.get_array().shape[1] <= WIDE * ranks
    assert drawn.image.get_array().shape[1] <= 192, "or a stripe would be a pixel or two"
    drawn.ax.figure.savefig("/dev/null", format="png")


def test_the_parts_of_more_than_8_ranks_stand_in_two_lines():
    ax = messages(np.full((16, 16), 1 << 9), ax=axes())
    shown = ax.images[0].get_array()
    assert shown.shape == (32, 128, 3)
    there = (np.abs(shown - to_rgb("#EEF1F4")).max(-1) > 0.01).astype(int)
    assert there[:2, :8].tolist() == [[0] * 8, [0, 1, 0, 0, 0, 0, 0, 0]], "rank 9: second in the second line"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[:4] == ["part of rank 0", "8", "1", "9"], "columns of a legend are filled from the top"
    assert messages(np.full((9, 2), 1 << 8), ax=axes()).images[0].get_array().shape == (18, 16, 3)


def test_of_a_long_vector_what_is_shown_is_enough():
    short = messages(np.ones((4, len(places_of(1000, 4))), int), ax=axes(), length=1000)
    long = messages(np.ones((4, 1000), int), ax=axes())
    assert np.array_equal(short.images[0].get_array(), long.images[0].get_array())
    assert [text.get_text() for text in short.get_xticklabels()] == [text.get_text() for text in long.get_xticklabels()]


def test_the_numbers_of_places_do_not_touch():
    drawn = Messages(Figure(figsize=(8.4, 4.6)).add_subplot(), 4, 100_000)
    drawn.ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in drawn.ax.get_xticklabels() if text.get_text()]
    assert all(left.x1 + 4 < right.x0 for left, right in itertools.pairwise(boxes))
