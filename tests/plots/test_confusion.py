"""The confusion matrix as a picture."""

import numpy as np
from matplotlib.figure import Figure

from dtnn.plots import confusion


def test_shares_of_each_label_and_counts():
    counts = np.array([[6, 2, 0], [0, 5, 0], [0, 0, 0]])
    ax = confusion(counts, ["cat", "dog", "cow"], Figure().add_subplot())
    np.testing.assert_allclose(ax.images[0].get_array(), [[0.75, 0.25, 0], [0, 1, 0], [0, 0, 0]])
    assert [text.get_text() for text in ax.texts] == ["6", "2", "5"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["cat", "dog", "cow"]
    assert ax.get_title(loc="left") == "Which class is taken for which\n84.6% of 13 right"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("taken for", "is")


def test_many_classes_have_no_numbers_and_few_names():
    ax = confusion(np.eye(100, dtype=int), ax=Figure().add_subplot())
    assert not ax.texts
    assert len(ax.get_xticks()) <= 40


def test_no_samples():
    ax = confusion(np.zeros((2, 2)), ax=Figure().add_subplot())
    assert ax.get_title(loc="left") == "Which class is taken for which"
