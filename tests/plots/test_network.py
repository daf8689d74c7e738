"""The drawing of a network, on Agg."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from dtnn import zoo
from dtnn.plots.network import GAP, blocks, extents, kind_colour, network
from dtnn.plots.palette import STATES


def drawn(name):
    model = getattr(zoo, name)()
    shape = model.input_shape
    return network(model.summary(), (*shape[-1:], *shape[:-1]), Figure(figsize=(9, 2.6)).add_subplot())


def test_three_faces_a_block_and_none_for_what_changes_nothing():
    ax = drawn("lenet5")
    assert len(ax.collections[0].get_paths()) == 3 * 9
    texts = [text.get_text() for text in ax.texts]
    assert texts[:4] == ["input", "1×28×28", "conv2d_1", "6×28×28"]
    assert "relu_1" not in texts


def test_heights_are_to_scale():
    ax = drawn("lenet5")
    fronts = [path.vertices[:4] for path in ax.collections[0].get_paths()[::3]]
    heights = [np.ptp(front[:, 1]) for front in fronts]
    assert heights[1] / heights[2] == pytest.approx(2**0.5), "28 rows against 14"
    assert heights[-1] / heights[-2] == pytest.approx((10 / 84) ** 0.5)


@pytest.mark.parametrize("name", ["mlp", "vgg11", "resnet20"])
def test_blocks_stand_apart_and_within_the_picture(name):
    ax = drawn(name)
    fronts = [path.vertices[:4, 0] for path in ax.collections[0].get_paths()[::3]]
    lefts, rights = [x.min() for x in fronts], [x.max() for x in fronts]
    assert all(left - right >= GAP - 1e-9 for right, left in zip(rights, lefts[1:]))
    low, high = ax.get_xlim()
    assert low < min(lefts)
    assert max(rights) < high
    ax.figure.savefig("/dev/null", format="png")


def test_the_misfit_is_red_and_the_last():
    rows = [
        SimpleNamespace(name="conv2d_1", shape=(6, 24, 24), parameters=156, error=""),
        SimpleNamespace(name="conv2d_2", shape=None, parameters=0, error="too large"),
        SimpleNamespace(name="linear_1", shape=None, parameters=0, error=""),
    ]
    assert [name for name, _, _ in blocks(rows, (1, 28, 28))] == ["input", "conv2d_1", "conv2d_2"]
    ax = network(rows, (1, 28, 28), Figure().add_subplot())
    assert ax.texts[-2].get_color() == STATES["failed"]


def test_sequences_and_unknown_kinds():
    assert extents((16, 9)) == (3.0, 4.0, 0.0)
    assert kind_colour("double_1") == kind_colour("flatten_1")
