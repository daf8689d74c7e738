"""Running means, and the curves that have them."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from dtnn.plots import by_rank, gradient_curve, overlay
from dtnn.plots.picture import Picture
from dtnn.plots.smooth import smooth, smoothed
from dtnn.plots.story import Story
from dtnn.records import Epoch, Finish, Ledger, Start, Step


def test_a_constant_stays_and_a_mean_is_one():
    assert smooth([3.0] * 50, 0.2).tolist() == [3.0] * 50
    values = np.random.default_rng(0).random(101)
    np.testing.assert_allclose(smooth(values, 0.1)[50], values[45:55].mean())


@pytest.mark.parametrize("share", [0.0, 0.02])
def test_of_too_few_there_is_none(share):
    assert np.isnan(smooth(np.arange(50.0), share)).all()


def test_one_that_is_not_finite_spoils_no_others():
    values = np.ones(50)
    values[[20, 30]] = np.nan, np.inf
    found = smooth(values, 0.4)
    assert np.isnan(found[[20, 30]]).all()
    assert np.delete(found, [20, 30]).tolist() == [1.0] * 48


def test_a_line_without_a_mean_is_as_it_was_told():
    ax = Figure().add_subplot()
    line = smoothed(ax, [1, 2], [3, 4], 0.4, color="red", marker="o", label="run")
    assert (line.get_label(), line.get_marker(), line.get_alpha()) == ("run", "o", None)


def told():
    """A run of 40 epochs of 10 steps, on two ranks."""
    dice, records = np.random.default_rng(0), [Start(0.0, 2, {"samples": 640, "batch_size": 64})]
    for step in range(1, 401):
        loss = 1 + dice.random()
        records.append(Step(step, 1 + (step - 1) // 10, loss, 64, 0.1, 0.1, float(step), gradient=1 + dice.random()))
        records += [Ledger(rank, step, 1, 32, 0, 0, 0.1, 0.2, 0.1, 0, 0, 0.4, 0.0, loss=loss + rank) for rank in (0, 1)]
        if step % 10 == 0:
            metrics = {"loss": loss, "val_loss": loss + 1, "accuracy": dice.random(), "val_accuracy": dice.random()}
            records.append(Epoch(step // 10, step, 640, 1.0, 0.1, metrics, float(step)))
    return records


@pytest.mark.parametrize(
    ("draw", "label"),
    [
        (lambda share, ax: by_rank(told(), ax, smoothing=share), "rank 1"),
        (lambda share, ax: overlay({"a": told()}, ax, smoothing=share), "a"),
        (lambda share, ax: overlay({"a": told()}, ax, smoothing=share), "a, validation"),
    ],
)
def test_every_curve_keeps_its_numbers_behind_the_mean(draw, label):
    raw, even = ({line.get_label(): line for line in draw(share, Figure().add_subplot()).lines} for share in (0.0, 0.2))
    assert list(raw[label].get_ydata()) == list(even[label].get_ydata())
    assert even[label].get_alpha() < 0.5
    assert f"_mean of {label}" not in raw
    assert np.std(even[f"_mean of {label}"].get_ydata()) < np.std(raw[label].get_ydata()) / 2
    assert even[f"_mean of {label}"].get_linestyle() == raw[label].get_linestyle()


def test_legends_name_each_line_once():
    for draw in (lambda ax: by_rank(told(), ax, smoothing=0.2), lambda ax: overlay({"a": told()}, ax, smoothing=0.2)):
        legend = draw(Figure().add_subplot()).get_legend()
        words = [text.get_text() for text in legend.get_texts()]
        assert words in (["rank 0", "rank 1"], ["a", "validation"])
        assert all(handle.get_alpha() is None for handle in legend.legend_handles)


def test_the_gradients_curve_has_as_much_of_it_as_was_asked_for():
    lines = [{line.get_label(): line for line in gradient_curve(told(), Figure().add_subplot(), s).lines} for s in (0.0, 0.4)]
    assert "running mean" not in lines[0]
    assert np.std(lines[1]["running mean"].get_ydata()) < np.std(lines[1]["steps"].get_ydata()) / 2


def test_a_picture_that_is_kept_shows_another_smoothing():
    drawn, story = Picture(), Story([*told(), Finish("done", 400.0)])
    pictures = []
    for share in (0.05, 0.4, 0.0, 0.05):
        drawn.smooth(share)
        pictures.append(Image.open(io.BytesIO(drawn.draw(story))).convert("RGB").tobytes())
    assert len(set(pictures)) == 3
    assert pictures[0] == pictures[-1]
    assert drawn.metric.smoothing == 0.05
