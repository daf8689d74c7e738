"""Cases of `Model`'s losses and labels that the layers' own tests don't have."""

import numpy as np
import pytest

from dtnn import Model
from dtnn.nn import Flatten, Linear, Reshape


def identity():
    """A model that gives what it gets."""
    return Model(Reshape((3,)), input_shape=(3,))


@pytest.mark.parametrize("form", [[2, 1], [[2], [1]], [[0, 0, 1], [0, 1, 0]]])
def test_case_69_labels_in_all_forms_are_the_same_labels(form):
    p = np.array([[0.1, 0.9, 0.8], [0.05, 0.95, 0]], np.float32)
    found = identity().evaluate(p, np.array(form))
    assert found["accuracy"] == 0.5
    assert found["loss"] == pytest.approx(identity().evaluate(p, np.array([2, 1]))["loss"], rel=1e-6)


@pytest.mark.parametrize("loss", ["mse", "mae", "huber", "binary_cross_entropy"])
def test_case_69_labels_for_a_loss_of_numbers_are_refused_and_the_right_loss_is_named(loss):
    model = Model(Flatten(), Linear(3), input_shape=(2, 2, 1))
    x, labels = np.ones((4, 2, 2, 1), np.float32), np.array([0, 1, 2, 0])
    with pytest.raises(ValueError, match=rf"{loss}.*cross_entropy|Huber.*cross_entropy"):
        model.fit(x, labels, loss=loss, show=False)


def test_case_68_a_row_of_zeros_is_refused_before_anything_is_trained():
    model = Model(Linear(3), input_shape=(2,))
    with pytest.raises(ValueError, match=r"\[1\] is \[0"):
        model.fit(np.ones((2, 2), np.float32), np.array([[0, 1, 0], [0, 0, 0]]), show=False)


def test_case_65_logits_that_overflow_train_nothing_wrong():
    found = Model(Reshape((2,)), input_shape=(2,)).evaluate(np.array([[-1000.0, 1000.0]], np.float32), np.array([0]))
    assert found["loss"] == pytest.approx(2000)
    found = Model(Reshape((2,)), input_shape=(2,)).evaluate(np.array([[1e8, 1e8]], np.float32), np.array([1]))
    assert found["loss"] == pytest.approx(0.693147, abs=1e-6)
