"""The picture of an all-reduce, on Agg."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dtnn.plots.messages import WIDE, Messages, colours, messages


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
    drawn.ax.figure.savefig("/dev/null", format="png")
