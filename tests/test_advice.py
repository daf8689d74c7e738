"""What is hardly meant is said when a training begins, and hinders nothing."""

import numpy as np
import pytest

from dtnn import Model, nn

ROWS = np.random.default_rng(0).random((8, 3), np.float32), np.arange(8) % 2


def fit(*layers, **settings):
    return Model(*layers, input_shape=(3,)).fit(*ROWS, epochs=1, **settings)


def test_a_softmax_before_the_loss_that_makes_one():
    with pytest.warns(UserWarning, match="the last layer is Softmax.*leave the layer out"):
        fit(nn.Linear(2), nn.Softmax())


def test_statistics_of_one_sample():
    with pytest.warns(UserWarning, match="one sample at a time, of which BatchNorm1d.. makes zeros: give 2 or more"):
        fit(nn.Linear(4), nn.BatchNorm1d(), nn.Linear(2), batch_size=1)


def test_what_is_meant_is_left_alone():
    fit(nn.Linear(4), nn.BatchNorm1d(), nn.Linear(2), batch_size=2)
    fit(nn.Linear(2), nn.LogSoftmax(), batch_size=1)
