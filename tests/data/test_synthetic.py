import pickle

import numpy as np
import pytest

from dtnn.data import synthetic


def test_images_of_any_size():
    data = synthetic((13, 9, 2), classes=3, samples=30, test=6)
    assert data.x_train.shape == (30, 13, 9, 2)
    assert data.x_train.dtype == np.uint8
    assert data.y_train.tolist() == [0, 1, 2] * 10
    assert np.array_equal(pickle.loads(pickle.dumps(data)).x_train, data.x_train)
    assert len(pickle.dumps(data)) < 300
    assert not np.array_equal(synthetic((13, 9, 2), 3, 30, 6, seed=1).x_train, data.x_train)


def test_can_be_learnt_but_is_not_trivial():
    data = synthetic(samples=400, test=100)
    means = np.array([data.x_train[data.y_train == k].mean(axis=0) for k in range(10)])
    distances = ((data.x_test[:, None].astype(float) - means) ** 2).sum(axis=(2, 3, 4))
    assert (distances.argmin(axis=1) == data.y_test).mean() > 0.95
    assert data.x_test[0].std() > 30
    assert not np.array_equal(data.x_test[0], data.x_test[10])  # the same class, another image


def test_nothing_is_the_same_in_all_images():
    data = synthetic((8, 8, 1), classes=2, samples=50, test=10)
    assert (data.x_train.std(axis=0) > 5).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(shape=32), r"shape=32: give \(height, width, channels\), such as \(32, 32, 3\)"),
        (dict(shape=(32, 0, 3)), r"shape=\(32, 0, 3\): give"),
        (dict(classes=0), "classes=0: give a whole number of at least 1"),
        (dict(test=0), "test=0: give a whole number of at least 1"),
    ],
)
def test_impossible_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        synthetic(**arguments)
