"""Many short texts as one artist look as matplotlib's own."""

import numpy as np
from matplotlib.figure import Figure

from dtnn.plots.axes import Sheet
from dtnn.plots.canvas import Canvas
from dtnn.plots.letters import letters

WORDS = ["1,701", "0.5", "gy", "-"]


def drawn(kind):
    figure = kind(figsize=(4, 3), dpi=110)
    Canvas(figure)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 4), ylim=(4, 0))
    ax.set_axis_off()
    letters(ax, [(1, 1), (3, 1), (1, 3), (3, 3)], WORDS, ["red", "blue", "black", "green"])
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(float), ax


def test_they_look_the_same_and_are_where_they_were_wanted():
    (ours, sheet), (theirs, usual) = drawn(Sheet), drawn(Figure)
    assert not sheet.texts
    assert [text.get_text() for text in usual.texts] == WORDS
    assert np.abs(ours - theirs).mean() < 0.5
    for rows in (slice(0, 165), slice(165, None)):
        for columns in (slice(0, 220), slice(220, None)):
            one, other = (np.argwhere(picture[rows, columns].min(2) < 128) for picture in (ours, theirs))
            assert np.abs(one.mean(0) - other.mean(0)).max() < 1.5


def test_hidden_ones_are_not_seen_and_none_are_no_error():
    _, ax = drawn(Sheet)
    ax.artists[0].set_visible(False)
    ax.figure.canvas.draw()
    assert (np.asarray(ax.figure.canvas.buffer_rgba())[..., :3] == 255).all()
    letters(ax, [], [], [])
    ax.figure.canvas.draw()
