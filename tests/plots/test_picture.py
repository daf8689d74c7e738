"""The whole run in one PNG."""

import dataclasses
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from dtnn.plots.picture import HEIGHT, WIDTH, Picture, figure, picture
from dtnn.plots.story import Story
from dtnn.records import Ledger, Step


def _pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def _outside(fig):
    """Texts that stick out of the figure."""
    renderer = fig.canvas.get_renderer()
    axes = [axis for ax in fig.axes for axis in (ax.xaxis, ax.yaxis)]
    drawn = {label for axis in axes for tick in axis._update_ticks() for label in (tick.label1, tick.label2)}
    every = {label for axis in axes for tick in (*axis.majorTicks, *axis.minorTicks) for label in (tick.label1, tick.label2)}
    shown = [
        text for text in fig.findobj(plt.Text) if text.get_visible() and text.get_text().strip() and text not in every - drawn
    ]
    box = fig.bbox
    return [text.get_text() for text in shown if not _within(text.get_window_extent(renderer), box)]


def _within(inner, outer):
    return inner.x0 >= -0.5 and inner.y0 >= -0.5 and inner.x1 <= outer.x1 + 0.5 and inner.y1 <= outer.y1 + 0.5


@pytest.mark.parametrize("ranks", [1, 2, 4, 16])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.05, 0.5, 1.0])
def test_no_text_is_cut_off(run_of, ranks, share):
    records = run_of(ranks=ranks)
    drawn = Picture(title="LeNet-5 on mnist5k")
    drawn.draw(Story(records[: round(share * len(records))]), waiting_for="the engines of the cluster to answer")
    assert _outside(drawn.figure) == []


def test_packing_and_hidden_communication_fit_in(run_of):
    records = [
        dataclasses.replace(record, hidden=0.15 * record.seconds, pack=0.04 * record.seconds)
        if isinstance(record, Ledger)
        else record
        for record in run_of()
    ]
    drawn = Picture()
    drawn.draw(Story(records))
    assert _outside(drawn.figure) == []
    legend, sheet = drawn.bars.now.ax.get_legend(), drawn.figure.bbox
    assert _within(legend.get_window_extent(drawn.figure.canvas.get_renderer()), sheet)


def test_no_tick_is_cut_off_when_the_loss_falls_far(run_of):
    records = [Step(i, 1, 2.0 * 10 ** (-i / 40), 64, 0.01, 0.01, 1.0 * i) for i in range(1, 201)]
    drawn = Picture()
    drawn.draw(Story(records))
    assert drawn.loss.ax.get_yscale() == "log"
    assert _outside(drawn.figure) == []


def test_a_long_line_gives_up_parts_and_not_the_end(run_of):
    drawn = Picture(title="a very long name " * 2)
    drawn.draw(Story(run_of()[:200]), "running")
    assert _outside(drawn.figure) == []
    assert "no news" in drawn.header.text


def test_every_picture_has_the_same_size_whatever_it_shows(run_of):
    records = run_of()
    sizes = {Image.open(io.BytesIO(picture(records[:end]))).size for end in (0, 5, 100, len(records))}
    assert sizes == {(WIDTH, HEIGHT)}
    assert Image.open(io.BytesIO(picture(records, scale=2))).size == (2 * WIDTH, 2 * HEIGHT)
    assert Image.open(io.BytesIO(picture(records, width=640))).size[0] == 640


def test_a_picture_drawn_on_is_the_picture_drawn_anew(run_of):
    """What is kept between pictures never leaves anything behind."""
    records, kept, story = run_of(), Picture(), Story()
    for end in (0, 3, 20, 75, 76, 140, 141, 250, len(records)):
        story.read(records[:end])
        kept.draw(story)
    for ax in (kept.loss.ax, kept.metric.ax):
        ax.get_legend().set_loc("center")  # where it hides least depends on when that was asked; nothing else does
    kept._frames.clear()
    anew = Picture()
    anew.draw(Story(records))
    for ax in (anew.loss.ax, anew.metric.ax):
        ax.get_legend().set_loc("center")
    anew._frames.clear()
    one, other = _pixels(kept.draw(story)), _pixels(anew.draw(Story(records)))
    assert np.abs(one - other).max() <= 40  # the reduced palettes may differ a little


def test_frames_that_are_kept_are_the_frames_drawn_anew(run_of):
    drawn, story = Picture(), Story(run_of())
    first, kept = _pixels(drawn.draw(story)), _pixels(drawn.draw(story))
    drawn._frames.clear()
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(first, _pixels(drawn.draw(story)))


def test_a_users_dark_style_does_not_reach_it(run_of):
    light = _pixels(picture(run_of()))
    with plt.style.context("dark_background"):
        dark = _pixels(picture(run_of()))
    np.testing.assert_array_equal(light, dark)
    assert (light[0, 0] > 245).all(), "the ground is opaque and white, so dark pages do not shine through"


def test_pyplot_knows_nothing_of_it(run_of):
    before = plt.get_fignums()
    picture(run_of())
    figure(run_of())
    assert plt.get_fignums() == before


def test_the_error_is_in_the_picture_in_words(run_of):
    drawn = Picture()
    drawn.draw(Story(run_of(finish="")[:100]), "failed", "", "rank 1: ValueError: layer 3 cost $5 or $6 " * 9)
    assert drawn.header.error.get_visible()
    assert drawn.header.error.get_text().startswith("rank 1: ValueError: layer 3")
    assert _outside(drawn.figure) == []


def test_it_says_which_moment_it_shows(run_of):
    records = run_of()
    told = Image.open(io.BytesIO(picture(records))).text
    assert float(told["dtnn.newest"]) == records[-1].time
    assert int(told["dtnn.step"]) == 5 * 63
    assert told["Description"].startswith("done: 5 epochs")


def test_a_figure_can_be_changed_and_saved(run_of, tmp_path):
    drawn = figure(run_of(), title="LeNet-5")
    assert len(drawn.axes) == 4
    drawn.savefig(tmp_path / "run.png")
    drawn.savefig(tmp_path / "run.svg")
    saved = _pixels((tmp_path / "run.png").read_bytes())
    assert np.abs(saved - _pixels(picture(run_of(), title="LeNet-5"))).mean() < 1.5


def test_another_metric_takes_the_second_panel(run_of):
    records = run_of()
    for epoch in Story(records).epochs:
        epoch.metrics["r2"] = epoch.metrics.pop("accuracy")
        epoch.metrics["val_r2"] = epoch.metrics.pop("val_accuracy")
    drawn = figure(records)
    assert drawn.axes[1].get_title("left") == "r2"
