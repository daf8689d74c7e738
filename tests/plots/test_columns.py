"""The numbers behind each picture, as columns."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from dtnn import plots
from dtnn.gradients import GradientView
from dtnn.plots.columns import columns
from dtnn.records import Epoch, Recorder, Step
from dtnn.scaling.result import Study
from tests.plots.conftest import synthetic
from tests.plots.test_gradients import told as gradients_told
from tests.plots.test_timeline import drawn as a_step
from tests.scaling.test_study import _measurement
from tests.tracing.made import run_of

NO_PICTURES = {"columns", "recent", "report", "totals"}  # text and numbers already
OF_A_FIGURE = {"Live", "picture"}  # what is in these pictures, `figure` draws from the same records


def axes():
    return Figure().add_subplot()


def study():
    measured = [_measurement(ranks, repeat, rate) for ranks, rate in ((1, 100.0), (2, 160.0)) for repeat in (1, 2)]
    return Study("LeNet-5", "mnist5k", "strong", 64, "SGD(0.01)", {"cores": 2}, 1, measured)


def view():
    rng = np.random.default_rng(3)
    return GradientView(gradients_told({name: rng.standard_normal((3, 5)) for name in ("conv2d_1", "linear_1")}, [8, 8, 8]))


LAYERS = [SimpleNamespace(name="linear_1", shape=(10,), parameters=650)]
DRAWN = {
    "Timeline": lambda: plots.Timeline(a_step_run()),
    "breakdown": lambda: plots.breakdown(synthetic(), axes()),
    "by_rank": lambda: plots.by_rank(synthetic(), axes(), "work"),
    "class_balance": lambda: plots.class_balance([0, 0, 1, 1], [0, 1, 1, 1], axes()),
    "confusion": lambda: plots.confusion([[3, 1], [0, 4]], ["cat", "dog"], axes()),
    "curves": lambda: plots.curves(synthetic(), axes()),
    "descent": lambda: plots.descent([[1, 1], [0.5, 0.5]], lambda w: (w**2).sum(1), ax=axes()),
    "efficiency": lambda: plots.efficiency(study(), axes()),
    "figure": lambda: plots.figure(synthetic()),
    "gantt": a_step,
    "gradient_cosines": lambda: plots.gradient_cosines(view(), ax=axes()),
    "gradient_curve": lambda: plots.gradient_curve(with_gradients(), axes()),
    "gradient_norms": lambda: plots.gradient_norms(view(), axes()),
    "gradients_figure": lambda: plots.gradients_figure(view()),
    "histograms": lambda: plots.histograms({"a": np.linspace(-1, 1, 99), "b": [0.0, 0.0, 1.0]}, axes()),
    "messages": lambda: plots.messages([[1, 3], [2, 2]], ax=axes()),
    "network": lambda: plots.network(LAYERS, (64,), axes()),
    "overlay": lambda: plots.overlay({"one": synthetic(), "two": synthetic(epochs=3)}, axes()),
    "plane": lambda: plots.plane([[0, 0], [1, 1]], [0, 1], [1, 0], np.full(4, 0.5), axes()),
    "scaling": lambda: plots.scaling(study(), axes()),
    "shards": lambda: plots.shards([[0, 1, 1, 0], [1, -1, 0, 0]], axes()),
    "study_figure": lambda: plots.study_figure(study()),
    "tiles": lambda: plots.tiles(np.arange(8.0).reshape(2, 2, 2), ["a", "b"], axes()),
    "time_by_rank": lambda: plots.time_by_rank(synthetic(), axes()),
    "time_per_step": lambda: plots.time_per_step(study(), axes()),
}


def a_step_run():
    return run_of(steps=(10,))


def with_gradients():
    return [Step(n, 1, 2.0, 64, 0.1, 0.1, 0.0, 1.0 + n % 2) for n in range(1, 101)]


def test_every_picture_has_its_numbers():
    assert set(DRAWN) | NO_PICTURES | OF_A_FIGURE == set(plots.__all__)


@pytest.mark.parametrize("name", DRAWN)
def test_columns_are_of_one_length_and_of_plain_numbers(name):
    told = columns(DRAWN[name]())
    assert told
    lengths = {len(column) for column in told.values()}
    assert len(lengths) == 1
    assert lengths != {0}
    assert not any(isinstance(value, np.generic) for column in told.values() for value in column)


def test_curves_have_each_epoch():
    told = columns(DRAWN["curves"]())
    mine = [(x, y) for series, x, y in zip(*told.values()) if series == "validation"]
    assert mine == [(epoch.epoch, epoch.metrics["val_loss"]) for epoch in Recorder(synthetic()).of(Epoch)]
    assert told["series"].count("steps") > 100


def test_bars_are_those_of_the_totals():
    told, totals = columns(DRAWN["breakdown"]()), plots.totals(synthetic())
    assert told["rank"] == [0, 1]
    assert told["wait"] == [totals[rank]["wait"] for rank in (0, 1)]


def test_matrices_name_their_rows_and_columns():
    assert columns(DRAWN["confusion"]()) == {
        "is": ["cat", "cat", "dog", "dog"],
        "taken for": ["cat", "dog", "cat", "dog"],
        "samples": [3, 1, 0, 4],
    }
    assert columns(DRAWN["class_balance"]()) == {"rank": [0, 0, 1, 1], "class": [0, 1, 0, 1], "samples": [1, 1, 0, 2]}
    assert columns(DRAWN["shards"]())["rank"] == [0, 1, 1, 0, 1, -1, 0, 0]
    assert columns(DRAWN["messages"]())["parts"] == [[0], [0, 1], [1], [1]]
    norms = columns(DRAWN["gradient_norms"]())
    assert norms["rank"] == [0, 1, 2, "sum"] * 2
    assert norms["norm"][3] == view().total[0]


def test_histograms_count_the_numbers_between_their_edges():
    told = columns(DRAWN["histograms"]())
    low, high = min(told["from"]), max(told["to"])
    for name, numbers in (("a", np.linspace(-1, 1, 99)), ("b", np.array([0.0, 0.0, 1.0]))):
        counted = sum(count for each, count in zip(told["name"], told["count"]) if each == name)
        assert counted == ((numbers >= low) & (numbers <= high)).sum() > 1


def test_a_drawing_that_moves_has_its_newest_numbers():
    drawn = plots.messages([[1], [2]], ax=axes())
    assert columns(drawn)["parts"] == [[0], [1]]
    moved = plots.messages([[3], [3]], ax=drawn)
    assert columns(moved)["parts"] == [[0, 1], [0, 1]]


def test_of_a_figure_each_axes_is_named():
    told = columns(DRAWN["study_figure"]())
    assert list(dict.fromkeys(told["axes"])) == ["Speed-up", "Efficiency", "Time of a step"]
    assert told["speedup"][:2] == [1.0, 1.6]
    assert told["speedup"][-1] is None


def test_what_is_no_picture_is_refused():
    with pytest.raises(TypeError, match=r"columns of 3: give the Axes"):
        columns(3)
