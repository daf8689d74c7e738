"""Axes drawn by rulers take the same room, and look the same, as those that matplotlib draws."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from dtnn.plots.axes import Sheet, dress, names, paper, slanted
from dtnn.plots.canvas import Canvas
from dtnn.plots.limits import few_ticks
from dtnn.plots.ruler import Ruler


def usual(ax):
    ax.plot([0, 7], [0.1, 3])


def logarithmic(ax):
    ax.plot([0, 7], [1e-3, 30])
    ax.set_yscale("log")
    few_ticks(ax)


def own_logarithmic(ax):
    ax.loglog([1, 1e5], [1e-3, 30])


def named(ax):
    ax.set(xlim=(-0.5, 2.5), ylim=(2.5, -0.5))
    names(ax.xaxis, range(3), ("a", "bb", "two\nlines"))
    names(ax.yaxis, range(4), ("cat", "dog", "cow", "never seen"), "small")


def powers(ax):
    ax.plot([0, 1], [0, 3e9])


def bare(ax):
    ax.set(xlabel="", ylabel="", xticks=(), yticks=())


def marked(ax):
    ax.tick_params(length=0, labelsize="x-small", colors="red")


def without_words(ax):
    ax.tick_params(labelleft=False, bottom=False)


KINDS = [usual, logarithmic, own_logarithmic, named, powers, bare, marked, without_words]


def made(draw, kind=Sheet):
    figure = kind(figsize=(4, 3), dpi=100)
    Canvas(figure)
    ax = dress(figure.add_subplot(), "A title", "below", "beside", "both")
    draw(ax)
    paper(figure)
    return figure, ax


def shades(figure):
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(float)


@pytest.mark.parametrize("draw", KINDS)
@pytest.mark.parametrize("for_layout_only", [False, True])
def test_it_takes_the_same_room(draw, for_layout_only):
    figure, ax = made(draw)
    for axis in (ax.xaxis, ax.yaxis):
        renderer = figure.canvas.get_renderer()
        ours = Ruler(axis).get_tightbbox(renderer, for_layout_only=for_layout_only)
        spine = ax.spines["bottom" if axis is ax.xaxis else "left"].get_window_extent(renderer)
        theirs = axis.get_tightbbox(renderer, for_layout_only=for_layout_only)
        outer = (1,) if axis is ax.xaxis else (0,)  # which way it needs room
        if draw is bare:
            assert ours is None
        else:
            wanted = [min(box.min[k] for box in (theirs, spine)) for k in outer]
            assert np.abs(ours.min[list(outer)] - wanted).max() < 1


@pytest.mark.parametrize("draw", KINDS)
def test_it_looks_the_same(draw):
    theirs, ours = (shades(made(draw, kind)[0]) for kind in (Figure, Sheet))
    assert np.abs(theirs - ours).mean() < 0.01


def test_slanted_words_end_at_their_ticks():
    def draw(ax):
        ax.set(xlim=(-0.5, 2.5))
        names(ax.xaxis, range(3), ("airplane", "automobile", "bird"))
        slanted(ax)

    theirs, ours = (shades(made(draw, kind)[0]) for kind in (Figure, Sheet))
    assert np.abs(theirs - ours).mean() < 0.01


def test_ticks_that_somebody_changed_are_drawn_as_they_are():
    figure, ax = made(usual)
    for label in ax.get_xticklabels():
        label.set_color("red")
    red = (shades(figure) @ [1, -0.5, -0.5]).max()
    assert red > 100
    ax.xaxis.tick_top()
    shades(figure)
    assert ax.xaxis.get_ticks_position() == "top"


def test_afterwards_the_axes_are_matplotlibs_again():
    figure, ax = made(usual)
    shades(figure)
    assert "draw" not in vars(ax.xaxis)
    assert "get_tightbbox" not in vars(ax.yaxis)
    assert all(spine.get_in_layout() for spine in ax.spines.values())
    assert [label.get_text() for label in ax.get_xticklabels()][1:3] == ["0", "2"]


def test_a_hidden_axis_is_not_seen_and_takes_no_room():
    figure, ax = made(usual)
    ax.yaxis.set_visible(False)
    assert Ruler(ax.yaxis).get_tightbbox(figure.canvas.get_renderer()) is None
    before = shades(figure)
    ax.yaxis.set_visible(True)
    assert (255 - before).sum() < (255 - shades(figure)).sum()
