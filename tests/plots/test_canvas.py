"""Texts from memory look as matplotlib's own, wherever they stand."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dtnn.plots.canvas import Canvas, _letters


def pixels(canvas, draw):
    """What a canvas of 300 x 200 pixels shows, as shades."""
    figure = Figure(figsize=(3, 2), dpi=100)
    draw(figure)
    made = canvas(figure)
    made.draw()
    return np.asarray(made.buffer_rgba())[..., :3].astype(float)


def middle(shades):
    """Where the ink is, and how much of it."""
    ink = 255 - shades.mean(axis=2)
    y, x = np.mgrid[: ink.shape[0], : ink.shape[1]]
    return np.array([(ink * x).sum() / ink.sum(), (ink * y).sum() / ink.sum(), ink.sum()])


@pytest.mark.parametrize("angle", [0, 60, 90, -45])
@pytest.mark.parametrize(("x", "y"), [(0.2, 0.5), (0.4567, 0.3123)])
@pytest.mark.parametrize("words", ["a word", "two\nlines, gg", "1e-4 · Ünïcode"])
def test_a_text_lies_where_matplotlib_puts_it(words, x, y, angle):
    def draw(figure):
        figure.text(x, y, words, rotation=angle, ha="center", color="#3355aa")

    theirs, ours = (middle(pixels(canvas, draw)) for canvas in (FigureCanvasAgg, Canvas))
    assert np.abs(theirs - ours)[:2].max() <= 0.75, "less than a pixel away"
    assert ours[2] == pytest.approx(theirs[2], rel=0.02)


@pytest.mark.parametrize(
    "how", [{"alpha": 0.4}, {"color": (0.1, 0.2, 0.3, 0.5)}, {"s": r"$\frac{x^2}{3}$"}, {"clip_box": "left"}]
)
def test_what_is_not_plain_is_drawn_as_matplotlib_does(how):
    def draw(figure):
        told = {"s": "words", **how}
        clip = told.pop("clip_box", None)
        text = figure.text(0.3, 0.5, **told)
        if clip:
            text.set_clip_box(figure.add_subplot(1, 2, 1).bbox)
            text.set_clip_on(True)

    theirs, ours = (middle(pixels(canvas, draw)) for canvas in (FigureCanvasAgg, Canvas))
    assert np.abs(theirs - ours)[:2].max() <= 0.75
    assert ours[2] == pytest.approx(theirs[2], rel=0.02)


def test_a_text_is_drawn_once_for_all_pictures_and_anew_in_another_size_or_font():
    def drawn_anew(**how):
        figure = Figure(figsize=(3, 2), dpi=how.pop("dpi", 100))
        figure.text(0.1, 0.5, "remembered", **how)
        before = _letters.cache_info()
        Canvas(figure).draw()
        after = _letters.cache_info()
        return after.misses - before.misses

    assert drawn_anew() == 1
    assert drawn_anew(color="red") == 0
    assert drawn_anew(fontsize=20) == 1
    assert drawn_anew(dpi=150) == 1
    assert drawn_anew(fontweight="bold") == 1


def test_a_text_out_of_the_picture_and_an_empty_one_are_no_trouble():
    def draw(figure):
        figure.text(-0.05, 0.99, "far out")
        figure.text(5, 5, "farther")
        figure.text(0.5, 0.5, " ")

    theirs, ours = (middle(pixels(canvas, draw)) for canvas in (FigureCanvasAgg, Canvas))
    assert ours[2] == pytest.approx(theirs[2], rel=0.02)


def test_another_size_gets_another_renderer():
    canvas = Canvas(Figure(figsize=(2, 1)))
    first = canvas.get_renderer()
    assert canvas.get_renderer() is first
    canvas.figure.set_dpi(150)
    canvas.draw()
    assert np.asarray(canvas.buffer_rgba()).shape == (150, 300, 4)


def test_a_matplotlib_that_writes_otherwise_draws_by_itself(monkeypatch):
    def draw(figure):
        figure.text(0.2, 0.5, "a word")

    monkeypatch.setattr("dtnn.plots.canvas.PLAIN", False)
    theirs, ours = (pixels(canvas, draw) for canvas in (FigureCanvasAgg, Canvas))
    assert (theirs == ours).all()
