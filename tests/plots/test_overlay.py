"""Several runs in one picture, checked on the Axes' data."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from dtnn.history import History
from dtnn.plots import curves, overlay
from dtnn.plots.overlay import overlay_figure
from dtnn.records import Epoch, Resumed, Step


def test_one_epoch_is_no_fraction_of_one(ax):
    overlay({"a": [Epoch(1, 9, 640, 0.5, 0.1, {"accuracy": 0.5}, 1.0)]}, ax, "accuracy")
    low, high = ax.get_xlim()
    assert [tick for tick in ax.get_xticks() if low <= tick <= high] == [1.0]


@pytest.fixture
def ax():
    return Figure().add_subplot()


def _line(ax, label):
    return next(line for line in ax.lines if line.get_label() == label)


def test_each_run_has_its_colour_and_its_numbers(run_of, ax):
    runs = {"two": run_of(ranks=2), "one": History(run_of(ranks=1, epochs=3, validation=False))}
    assert overlay(runs, ax=ax) is ax
    assert [line.get_label() for line in ax.lines] == ["two", "two, validation", "one"]
    np.testing.assert_array_equal(_line(ax, "two").get_ydata(), [e.metrics["loss"] for e in runs["two"].of(Epoch)])
    np.testing.assert_array_equal(
        _line(ax, "two, validation").get_ydata(), [e.metrics["val_loss"] for e in runs["two"].of(Epoch)]
    )
    np.testing.assert_array_equal(_line(ax, "one").get_xdata(), [1, 2, 3])
    assert _line(ax, "two").get_color() == _line(ax, "two, validation").get_color() != _line(ax, "one").get_color()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["two", "one", "validation"]


@pytest.mark.parametrize("against", ["epoch", "step", "seconds"])
def test_what_it_is_drawn_against(run_of, ax, against):
    records = run_of(epochs=3)
    overlay([records], ax=ax, metric="accuracy", against=against)
    wanted = {"epoch": [1, 2, 3], "step": [63, 126, 189], "seconds": [63 * 0.012 * n for n in (1, 2, 3)]}[against]
    np.testing.assert_allclose(_line(ax, "run 1").get_xdata(), wanted, atol=0.2)
    assert against in ax.get_xlabel()


def test_pauses_take_no_seconds(run_of, ax):
    records = run_of(epochs=2)
    place = next(n for n, record in enumerate(records) if isinstance(record, Epoch))
    later = [Resumed(63, 1000.0, records[place].time + 1000.0)]
    later += [_moved(record, 1000.0) for record in records[place + 1 :]]
    overlay({"paused": records[: place + 1] + later, "not": records}, ax=ax, against="seconds")
    np.testing.assert_allclose(_line(ax, "paused").get_xdata(), _line(ax, "not").get_xdata(), atol=1e-6)


def _moved(record, seconds):
    import dataclasses

    return dataclasses.replace(record, time=record.time + seconds) if hasattr(record, "time") else record


@pytest.mark.parametrize("against", ["epoch", "step", "seconds"])
def test_a_run_of_one_epoch_shows_its_steps(run_of, ax, against):
    records = run_of(epochs=1)
    overlay([records], ax=ax, against=against)
    x, y = _line(ax, "run 1").get_data()
    assert len(x) == len(records.of(Step))
    assert np.all(np.diff(x) > 0)
    assert abs(np.mean(y) - np.mean(records.column(Step, "loss"))) < 0.05


def test_nothing_yet_is_said(ax):
    overlay({"a": [], "b": []}, ax=ax, metric="accuracy")
    assert [text.get_text() for text in ax.texts] == ["no accuracy yet in any of these runs"]
    assert ax.get_legend() is None


def test_an_axis_that_is_not_known_is_refused(ax):
    with pytest.raises(ValueError, match=r"'hours' is not known; choose 'epoch', 'seconds' or 'step'"):
        overlay([[]], ax=ax, against="hours")


def test_twelve_runs_can_be_told_apart(run_of, ax):
    overlay([run_of(epochs=2, validation=False)] * 12, ax=ax)
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 12


def test_the_whole_picture_is_one_png(run_of):
    with pytest.raises(ValueError, match="against='day' is not known"):
        overlay_figure({"a": run_of()}, against="day")
    figure = overlay_figure({"a": run_of(), "a long name that would take all the room there is": run_of(ranks=3)})
    assert len(figure.axes) == 2
    assert figure._repr_png_().startswith(b"\x89PNG")
    left, right = figure.axes
    assert left.get_legend() is None
    assert right.get_legend().get_window_extent().x1 <= figure.bbox.x1


def test_smoothing_is_chosen(run_of):
    records = run_of(epochs=2)
    losses = np.array(records.column(Step, "loss"))
    plain, smoothed = (curves(records, ax=Figure().add_subplot(), smoothing=share).lines[1] for share in (0, 0.5))
    assert np.isnan(plain.get_ydata()).all()
    assert np.abs(np.diff(smoothed.get_ydata(), 2)).max() < 0.3 * np.abs(np.diff(losses, 2)).max()
    with pytest.raises(ValueError, match=r"smoothing=1.5 .* from 0 \(none\) to below 1"):
        curves(records, ax=Figure().add_subplot(), smoothing=1.5)
