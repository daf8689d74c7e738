"""The norm of the gradient over time."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import dtnn
from dtnn.plots import gradient_curve
from dtnn.records import Gradients, Step


@pytest.fixture
def ax():
    return Figure().add_subplot()


def step(number, gradient):
    return Step(number, 1, 2.0, 64, 0.1, 0.1, 0.0, gradient)


def test_each_step_is_there_and_a_mean_over_some(ax):
    assert gradient_curve([step(n, 1.0 + n % 2) for n in range(1, 101)], ax) is ax
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert lines["steps"].tolist()[:3] == [2.0, 1.0, 2.0]
    np.testing.assert_allclose(lines["running mean"][10:-10], 1.5, atol=0.11)
    assert ax.get_yscale() == "linear"


def test_many_steps_become_few_means(ax):
    gradient_curve([step(n, float(n)) for n in range(1, 5001)], ax)
    x, y = ax.lines[0].get_data()
    assert len(x) == 1000
    assert y.mean() == pytest.approx(2500.5)
    assert x[-1] == 5000
    assert ax.get_yscale() == "log"


def test_ranks_are_shown_as_if_each_had_its_samples_alone(ax):
    look = Gradients(2, "", [48, 16], 0.5, ["a", "b"], [[3.0, 1.0], [4.0, 0.0]], [], [], [], [], 0.0)
    gradient_curve([step(1, 1.0), look, step(2, 1.0)], ax)
    dots = {line.get_label(): line.get_data() for line in ax.lines}
    assert [float(dots["rank 0"][k][0]) for k in (0, 1)] == [2, pytest.approx(5.0 * 64 / 48)]
    assert float(dots["rank 1"][1][0]) == pytest.approx(1.0 * 64 / 16)


def test_what_is_not_known_is_said(ax):
    gradient_curve([step(1, float("nan"))], ax)
    assert not ax.lines
    assert ax.texts[0].get_text().startswith("no step has told the norm of its gradient")


def test_a_training_on_ranks(ax):
    with dtnn.Cluster(2, "threads") as cluster:
        how = dict(epochs=2, batch_size=500, keep_gradients_every=4)
        run = dtnn.zoo.mlp(hidden=(8,)).start(dtnn.data.mnist5k(), cluster=cluster, **how)
        run.result(60)
    gradient_curve(run.records, ax)
    lines = {line.get_label(): line.get_xdata() for line in ax.lines}
    assert len(lines["steps"]) == 16
    assert lines["steps"][-1] == 2.0
    np.testing.assert_allclose(lines["rank 1"], [0.5, 1.0, 1.5, 2.0])
