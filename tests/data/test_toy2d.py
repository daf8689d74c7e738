import pickle

import numpy as np
import pytest

from dtnn.data import toy2d

ALL = [toy2d.circle, toy2d.xor, toy2d.gauss, toy2d.spiral]


@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_points_are_balanced_repeat_and_travel_as_a_call(make):
    data = make(100, noise=0.1, seed=3)
    assert data.x_train.shape == data.x_test.shape == (100, 2)
    assert data.x_train.dtype == np.float32
    assert np.bincount(data.y_train).tolist() == [50, 50]
    assert np.abs(data.x_train).max() < (2.5 if make is toy2d.gauss else 1.1)
    message = pickle.dumps(data)
    assert len(message) < 300
    assert np.array_equal(pickle.loads(message).x_train, data.x_train)
    assert not np.array_equal(make(100, noise=0.1, seed=4).x_train, data.x_train)
    assert not np.array_equal(data.x_test, data.x_train)


def test_clean_sets_have_their_shapes():
    circle, xor, gauss, spiral = (make(500) for make in ALL)
    radius = np.linalg.norm(circle.x_train, axis=1)
    assert radius[circle.y_train == 1].max() <= 0.5
    assert radius[circle.y_train == 0].min() >= 0.7
    assert ((xor.x_train.prod(axis=1) > 0) == (xor.y_train == 1)).all()
    assert ((gauss.x_train[:, 0] > 0) == (gauss.y_train == 1)).mean() > 0.95
    turned = np.arctan2(spiral.x_train[:, 0], spiral.x_train[:, 1]) - np.pi * spiral.y_train
    expected = 1.75 * 2 * np.pi * np.linalg.norm(spiral.x_train, axis=1) / 0.95
    assert np.abs(np.exp(1j * turned) - np.exp(1j * expected)).max() < 1e-4


def test_noise_moves_points_by_half_of_it_at_most():
    clean, noisy = toy2d.spiral(300), toy2d.spiral(300, noise=0.4)
    moved = np.abs(noisy.x_train - clean.x_train)
    assert 0.15 < moved.max() <= 0.2 + 1e-6


def test_impossible_arguments_are_refused():
    with pytest.raises(ValueError, match=r"samples=1: give a whole number of at least 2"):
        toy2d.circle(1)
    with pytest.raises(ValueError, match=r"noise=2: give a number from 0 \(clean\) to 1"):
        toy2d.circle(noise=2)
