"""The picture of who has which sample, on Agg."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dtnn.plots.messages import colours
from dtnn.plots.palette import STATES
from dtnn.plots.shards import NOBODY, TWICE, WIDE, class_balance, shards


def axes():
    return Figure().add_subplot()


def test_each_sample_in_its_ranks_colour_and_what_is_wrong_in_red():
    ax = shards([[0, 1, 2, NOBODY], [2, TWICE, 0, 1]], ax=axes())
    shown, red = ax.images[0].get_array(), to_rgb(STATES["failed"])
    assert np.allclose(shown[0], [*(to_rgb(colour) for colour in colours(3)), red])
    assert np.allclose(shown[1, 1], red)
    assert ax.get_title(loc="left") == "Which rank has which sample: 1 of 8 is missing, 1 of 8 is used twice"


def test_large_sets_are_shown_in_part():
    ax = shards(np.zeros((2, 5000), int), ax=axes(), ranks=4)
    assert ax.images[0].get_array().shape == (2, WIDE, 3)
    assert ax.get_xlim()[1] == 5000
    assert ax.get_title(loc="left").endswith("each once an epoch")
    assert len(ax.get_legend().get_texts()) == 4


def test_bars_of_the_classes():
    ax = class_balance([0, 1, 1, 0, 1], [0, 0, 2, 2, 2], ax=axes())
    bars = [path.get_extents() for bars in ax.collections for path in bars.get_paths()]
    assert [bar.height for bar in bars] == [1, 0, 1, 1, 0, 2]
    assert sum(bar.width for bar in bars) == pytest.approx(3 * 0.8)
    assert ax.get_ylim()[1] > 2
