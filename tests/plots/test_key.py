"""What lines and colours mean, drawn in few strokes, says and shows what matplotlib's legend does."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dtnn.plots.axes import paper, sheet
from dtnn.plots.canvas import Canvas
from dtnn.plots.fitted import Fitted
from dtnn.plots.key import Key, key

LINES = [Line2D([], [], color=colour, marker=mark, ls=style) for colour, mark, style in (("red", "o", "-"), ("blue", "", "--"))]
PATCHES = [Patch(facecolor=colour) for colour in ("red", "green", "blue", "orange", "black")]


def made(kind=sheet, handles=LINES, labels=("rank 0", "a name\nof two lines"), **how):
    figure = kind(3.0) if kind is sheet else kind(figsize=(7.2, 3.0), dpi=110)
    Canvas(figure)
    ax = figure.add_axes((0.1, 0.2, 0.5, 0.6))
    key(ax, handles, labels, **how)
    paper(figure)
    figure.canvas.draw()
    return ax


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"title": "16 of 40 ranks"},
        {"handles": PATCHES, "labels": list("abcde"), "at": (0.0, -0.1), "columns": 2, "handle": 1.0},
        {"handles": LINES[:1], "labels": ["alone"]},
    ],
)
def test_it_says_the_same_at_nearly_the_same_place(how):
    ours, theirs = (made(kind, **how).get_legend() for kind in (sheet, Figure))
    assert isinstance(ours, Key)
    assert not isinstance(theirs, Key)
    assert [text.get_text() for text in ours.get_texts()] == [text.get_text() for text in theirs.get_texts()]
    assert ours.get_title().get_text() == theirs.get_title().get_text().replace("None", "")
    one, other = ours.get_window_extent(), theirs.get_window_extent()
    assert np.abs(np.array([one.x0 - other.x0, one.y1 - other.y1])).max() < 12
    assert abs(one.width - other.width) < 16
    assert abs(one.height - other.height) < 20
    for mine, matplotlibs in zip(ours.get_texts(), theirs.get_texts()):
        assert abs(mine.get_window_extent().x0 - matplotlibs.get_window_extent().x0) < 12


def test_every_handle_is_seen_beside_its_label():
    ax = made(handles=PATCHES, labels=list("abcde"), at=(1.0, 1.0))
    pixels = np.asarray(ax.figure.canvas.buffer_rgba())[..., :3].astype(int)
    seen = [np.argwhere(np.abs(pixels - rgb).sum(2) < 30) for rgb in ((255, 0, 0), (0, 128, 0), (0, 0, 255), (255, 165, 0))]
    rows = [place[:, 0].mean() for place in seen]
    assert rows == sorted(rows)
    assert all(place[:, 1].min() > ax.bbox.x1 for place in seen)
    for place, text in zip(rows, ax.get_legend().get_texts()):
        box = text.get_window_extent()
        assert abs(ax.figure.bbox.y1 - place - (box.y0 + box.y1) / 2) < 3


def test_a_layout_leaves_it_room():
    figure = sheet(3.0, layout=Fitted())
    ax = figure.add_subplot()
    key(ax, LINES, ["rank 0", "all the others together"])
    figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x1 <= figure.bbox.x1
    assert ax.bbox.x1 < ax.get_legend().get_window_extent().x0
    low = sheet(3.0, layout=Fitted())
    below = low.add_subplot()
    key(below, PATCHES, list("abcde"), at=(0.0, 0.0), columns=5, below=0.4)
    low.canvas.draw()
    assert below.get_legend().get_window_extent().y0 >= 0


def test_it_goes_as_a_legend_goes():
    ax = made()
    ax.get_legend().remove()
    assert ax.get_legend() is None
    ax = made()
    ax.legend(LINES, ["x", "y"])
    assert not isinstance(ax.get_legend(), Key)
    hidden = made()
    before = np.asarray(hidden.figure.canvas.buffer_rgba()).copy()
    hidden.get_legend().set_visible(False)
    hidden.figure.canvas.draw()
    assert (before != np.asarray(hidden.figure.canvas.buffer_rgba())).any()


def test_a_picture_with_it_can_be_saved_in_any_format(tmp_path):
    ax = made()
    for name in ("a.svg", "a.pdf", "a.png"):
        ax.figure.savefig(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    assert "rank 0" in (tmp_path / "a.svg").read_text() or "<use" in (tmp_path / "a.svg").read_text()
