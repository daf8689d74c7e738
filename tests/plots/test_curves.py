"""Loss and metrics against epochs, checked on the Axes' data."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from dtnn.plots import curves
from dtnn.plots.curves import Curve
from dtnn.plots.story import Story
from dtnn.records import Epoch, Finish, Start, Step


@pytest.fixture
def ax():
    return Figure().add_subplot()


def _line(ax, label):
    return next(line for line in ax.lines if line.get_label() == label)


def test_lines_are_the_records(run_of, ax):
    records = run_of(epochs=5, steps=63)
    assert curves(records, ax=ax) is ax
    epochs = records.of(Epoch)
    assert _line(ax, "training").get_xdata() == [1, 2, 3, 4, 5]
    assert _line(ax, "training").get_ydata() == [epoch.metrics["loss"] for epoch in epochs]
    assert _line(ax, "validation").get_ydata() == [epoch.metrics["val_loss"] for epoch in epochs]
    np.testing.assert_allclose(_line(ax, "steps").get_ydata(), records.column(Step, "loss"))
    np.testing.assert_allclose(_line(ax, "steps").get_xdata(), np.array(records.column(Step, "step")) / 63)


def test_long_runs_are_thinned_but_their_mean_stays(ax):
    records = [Start(0.0, 1, {"samples": 1000 * 10, "batch_size": 10})]
    records += [Step(i, 1, float(i % 10), 10, 0.1, 0.1, float(i)) for i in range(1, 4097)]
    steps = _line(curves(records, ax=ax), "steps")
    assert len(steps.get_xdata()) <= 512
    assert np.isclose(steps.get_ydata().mean(), np.mean([i % 10 for i in range(1, 4097)]))


def test_accuracy_is_in_per_cent_and_steps_have_none(run_of, ax):
    curves(run_of(), ax=ax, metric="accuracy")
    assert len(_line(ax, "steps").get_xdata()) == 0
    assert ax.yaxis.get_major_formatter()(0.95) == "95%"
    assert ax.get_ylim()[1] >= 1.0
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["training", "validation"]


@pytest.mark.parametrize(("last", "scale"), [(1.5, "linear"), (0.01, "log")])
def test_scale_follows_the_range(ax, last, scale):
    losses = np.geomspace(2.3, last, 50)
    curves([Step(i, 1, loss, 1, 0.1, 0.1, 0.0) for i, loss in enumerate(losses, 1)], ax=ax)
    assert ax.get_yscale() == scale
    assert ax.get_ylim()[0] <= last
    assert ax.get_ylim()[1] >= 2.3


def test_negative_and_lost_losses_are_drawn_linearly(ax):
    losses = [1.0, -3.0, float("nan"), float("inf"), 2.0]
    curves([Step(i, 1, loss, 1, 0.1, 0.1, 0.0) for i, loss in enumerate(losses, 1)], ax=ax)
    assert ax.get_yscale() == "linear"
    assert ax.get_ylim()[0] <= -3.0


@pytest.mark.parametrize(("loss", "scale"), [(0.0, "auto"), (-3.0, "auto"), (2.0, "auto"), (2.0, "log"), (1e-12, "log")])
def test_a_loss_that_stays_is_drawn_too(ax, loss, scale):
    curves([Step(i, 1, loss, 1, 0.1, 0.1, 0.0) for i in range(1, 5)], ax=ax, scale=scale)
    low, high = ax.get_ylim()
    assert low <= loss <= high
    assert low < high


def test_limits_are_known_from_the_plan_and_stay(run_of, ax):
    records = run_of(epochs=5)
    seen = set()
    for end in (80, 150, 200, 300):
        seen.add(curves(records[:end], ax=Figure().add_subplot()).get_xlim())
    assert seen == {(0.0, 5.1)}


def test_a_very_long_plan_grows_with_the_run(run_of):
    records = run_of(epochs=30, finish="")
    records[0].settings["epochs"] = 100_000
    ends = [curves(records[:end], ax=Figure().add_subplot()).get_xlim()[1] for end in (80, 150, len(records))]
    assert ends == [20.4, 20.4, 51.0]


def test_a_run_that_goes_on_begins_where_it_was(ax):
    records = [Step(i, 3 + i // 11, 1.0, 1, 0.1, 0.1, 0.0) for i in range(1, 21)]
    records += [Epoch(3, 10, 10, 1.0, 0.1, {"loss": 1.0}, 0.0), Epoch(4, 20, 10, 1.0, 0.1, {"loss": 1.0}, 0.0)]
    ax = curves(records, ax=ax)
    low, high = ax.get_xlim()
    steps = _line(ax, "steps").get_xdata()
    assert low == 2
    assert low < steps.min() < steps.max() == 4 <= high


def test_before_the_first_point_it_says_when_it_comes(ax):
    curves([], ax=ax)
    assert any("first step" in text.get_text() for text in ax.texts)
    other = curves([], ax=Figure().add_subplot(), metric="accuracy")
    assert any("first epoch" in text.get_text() for text in other.texts)
    ended = curves([Finish("failed", 1.0)], ax=Figure().add_subplot())
    assert any("ended" in text.get_text() for text in ended.texts), "what never comes is not promised"


def test_unknown_scale_is_refused(ax):
    with pytest.raises(ValueError, match=r"'cubic'.*'auto', 'linear' or 'log'"):
        curves([], ax=ax, scale="cubic")


@pytest.mark.parametrize("label", ["training", "validation"])
def test_the_mean_is_drawn_over_the_numbers_which_are_faint_behind_it(ax, label):
    dice = np.random.default_rng(0)
    losses = {"loss": 2 + dice.random(50), "val_loss": 3 + dice.random(50)}
    told = [Epoch(n + 1, n, 1, 1.0, 0.1, {name: each[n] for name, each in losses.items()}, 0.0) for n in range(50)]
    curve = Curve(ax, smoothing=0.2)
    curve.show(Story(told))
    line = _line(ax, label)
    mean = curve.means[label == "validation"]
    assert line.get_ydata() == losses["loss" if label == "training" else "val_loss"].tolist(), "the numbers themselves"
    assert line.get_alpha() < 0.5
    np.testing.assert_allclose(mean.get_ydata()[10], np.mean(line.get_ydata()[5:15]))
    assert np.std(mean.get_ydata()) < np.std(line.get_ydata()) / 2
    handle = ax.get_legend().legend_handles[[text.get_text() for text in ax.get_legend().get_texts()].index(label)]
    assert handle.get_alpha() is None, "the legend shows the line that is seen"
    before = curve.shown
    curve.smoothing = 0.0
    assert curve.show(Story(told)), "the legend is another one"
    assert curve.shown != before
    assert line.get_alpha() == 1
    assert not mean.get_visible()


def test_few_epochs_have_no_mean(run_of, ax):
    curve = Curve(ax, "accuracy")
    curve.show(Story(run_of(epochs=5)))
    assert _line(ax, "training").get_alpha() == 1
    assert not any(mean.get_visible() for mean in curve.means)


@pytest.mark.parametrize("smoothing", [1, -0.1, "much", True, float("nan")])
def test_what_is_no_share_is_refused(ax, smoothing):
    with pytest.raises(ValueError, match=r"no share of the points; give a number from 0 \(none\) to below 1"):
        curves([], ax=ax, smoothing=smoothing)


def test_without_axes_a_figure_is_made():
    before = plt.get_fignums()
    ax = curves([])
    assert len(plt.get_fignums()) == len(before) + 1
    plt.close(ax.figure)


def test_a_legend_hides_nothing_that_comes_after_it(ax):
    """Its place is looked for when the limits change, and a long training has none of that for many epochs."""
    values = [0.4, 0.8, 0.9, *np.linspace(0.93, 1.0, 12)]
    told = [Start(0.0, 1, {"epochs": 15, "samples": 10, "batch_size": 10})]
    told += [Epoch(n, n, 1, 1.0, 0.1, {"accuracy": value}, 0.0) for n, value in enumerate(values, 1)]
    curve = Curve(ax, "accuracy")
    for count in range(2, len(told) + 1):
        if curve.show(Story(told[:count])):  # else only the lines are drawn anew
            ax.figure.draw_without_rendering()
            box = ax.get_legend().get_window_extent()
    points = ax.transData.transform(_line(ax, "training").get_xydata())
    assert not [point for point in points if box.contains(*point)]
