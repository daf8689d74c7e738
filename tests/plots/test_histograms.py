"""Histograms one below the other."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from dtnn.plots import histograms


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_lines_are_the_histograms(ax):
    normal = np.random.default_rng(0).standard_normal(5000)
    histograms({"one": normal, "ten": np.zeros(10)}, ax, "Weights", "weight")
    one, ten = ax.lines
    x, y = one.get_data()
    counts = np.histogram(normal, np.linspace(*ax.get_xlim(), len(x) + 1))[0]
    np.testing.assert_allclose(y, 0.35 - 0.8 * counts / counts.max())
    assert abs(x[np.argmin(y)]) < 0.5
    assert (ten.get_label(), ax.texts[1].get_text()) == ("ten", "0 ± 0 · 100 % zero")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["one", "ten"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first is at the top"


def test_what_is_not_finite_is_told(ax):
    histograms({"broken": [np.nan, np.inf, 1.0], "lost": [np.nan], "empty": []}, ax)
    assert [text.get_text() for text in ax.texts] == ["2 of 3 not finite", "1 of 1 not finite", "nothing"]


def test_of_many_layers_the_first_are_shown_and_it_is_said(ax):
    histograms({f"layer {number}": [0.0, 1.0] for number in range(60)}, ax, x="weight")
    assert len(ax.lines) == 24
    assert ax.get_xlabel() == "weight (the first 24 of 60 layers)"


def test_nothing(ax):
    histograms({}, ax)
    assert not ax.lines
