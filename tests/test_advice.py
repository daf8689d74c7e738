"""What is hardly meant is said when a training begins, and hinders nothing."""

import numpy as np
import pytest

import dtnn
from dtnn import Model, nn
from dtnn.records import Step

ROWS = np.random.default_rng(0).random((8, 3), np.float32), np.arange(8) % 2


def fit(*layers, **settings):
    return Model(*layers, input_shape=(3,)).fit(*ROWS, epochs=1, show=False, **settings)


def test_a_softmax_before_the_loss_that_makes_one():
    with pytest.warns(UserWarning, match="the last layer is Softmax.*leave the layer out"):
        fit(nn.Linear(2), nn.Softmax())
    with pytest.warns(UserWarning, match="the last layer is Softmax.*CrossEntropy makes a softmax of what it gives once more"):
        fit(nn.Linear(2), nn.Softmax(), loss=nn.CrossEntropy(0.1))


def test_statistics_of_one_sample():
    with pytest.warns(UserWarning, match="one sample at a time, of which BatchNorm1d.. makes zeros: give 2 or more"):
        fit(nn.Linear(4), nn.BatchNorm1d(), nn.Linear(2), batch_size=1)


def test_what_is_meant_is_left_alone():
    fit(nn.Linear(4), nn.BatchNorm1d(), nn.Linear(2), batch_size=2)
    fit(nn.Linear(2), nn.LogSoftmax(), batch_size=1)


def test_a_batch_larger_than_the_data_is_told_with_the_numbers_at_the_users_line():
    with pytest.warns(UserWarning, match="batch_size=64, but there are only 8 samples: each step takes all of them") as told:
        history = fit(nn.Linear(2), batch_size=64, validation_data=False)
    assert [warning.filename for warning in told] == [__file__]
    assert history.records.column(Step, "samples") == [8]
    with pytest.warns(UserWarning, match="batch_size_per_rank=9, but there are only 8 samples"):
        fit(nn.Linear(2), batch_size_per_rank=9)


@pytest.mark.parametrize("settings", [{}, {"batch_size": 8}, {"batch_size_per_rank": 8}, {"batch_size": 3}])
def test_a_batch_that_fits_or_that_nobody_asked_for_is_not(settings):
    fit(nn.Linear(2), **settings)


@pytest.fixture
def four():
    with dtnn.Cluster(4, launcher="threads", on_wait=False) as cluster:
        yield cluster


@pytest.mark.parametrize("way", ["fit", "start"])
def test_on_a_cluster_too_and_once(way, four):
    with pytest.warns(UserWarning, match="batch_size_per_rank=3 is 12 over 4 ranks, but there are only 8 samples") as told:
        ended = getattr(Model(nn.Linear(2), input_shape=(3,)), way)(*ROWS, batch_size_per_rank=3, cluster=four)
    if way == "start":
        ended.result(30)
    assert [warning.filename for warning in told] == [__file__]


def test_fewer_samples_than_ranks(four):
    rows = ROWS[0][:3], ROWS[1][:3]
    with pytest.warns(UserWarning, match="3 samples for 4 ranks: some have nothing to do in any step; use 3 ranks or fewer"):
        history = Model(nn.Linear(2), input_shape=(3,)).fit(*rows, cluster=four, show=False)
    assert history.records.column(Step, "samples") == [3]


def test_a_batch_smaller_than_the_ranks_is_refused(four):
    with pytest.raises(ValueError, match=r"batch_size=3 is less than one sample for each of 4 ranks.*Use batch_size=4 or more"):
        Model(nn.Linear(2), input_shape=(3,)).fit(*ROWS, cluster=four, batch_size=3, show=False)


LAST = {
    "ReLU": (nn.ReLU(), "cross_entropy", "what it cuts off is never learnt"),
    "Sigmoid": (nn.Sigmoid(), "cross_entropy", "no output is much larger than another"),
    "Tanh": (nn.Tanh(), "hinge", "no output is much larger than another: hinge takes any"),
    "Dropout": (nn.Dropout(0.5), "cross_entropy", "drops the outputs themselves: put it before the last Linear"),
}


@pytest.mark.parametrize("name", LAST)
def test_a_last_layer_that_hinders(name):
    layer, loss, text = LAST[name]
    with pytest.warns(UserWarning, match=text):
        fit(nn.Linear(2), layer, loss=loss)


def test_one_output():
    rows = ROWS[0], ROWS[1] * 0
    with pytest.warns(UserWarning, match="a single output, so that for cross_entropy all samples are of one class"):
        Model(nn.Linear(1), input_shape=(3,)).fit(*rows, show=False)
    with pytest.warns(UserWarning, match="binary_cross_entropy makes a sigmoid of what it gives once more"):
        Model(nn.Linear(1), nn.Sigmoid(), input_shape=(3,)).fit(*ROWS, loss="binary_cross_entropy", show=False)
    Model(nn.Linear(1), input_shape=(3,)).fit(*ROWS, loss="binary_cross_entropy", show=False)
    Model(nn.Linear(2), nn.ReLU(), input_shape=(3,)).fit(ROWS[0], ROWS[0][:, :2], loss="mse", show=False)  # may be meant


def test_images_that_are_not_scaled():
    images = np.full((8, 4, 4, 1), 200, np.uint8)
    model = Model(nn.Flatten(), nn.Linear(2), input_shape=(4, 4, 1))
    with pytest.warns(UserWarning, match="the inputs go up to 200: networks learn from numbers about 1; divide them by 255"):
        model.fit(images.astype(np.float32), ROWS[1], show=False)
    with pytest.warns(UserWarning, match="the inputs go up to 51000"):
        model.fit(dtnn.data.Samples(images, ROWS[1], scale=255), show=False, optimizer=dtnn.optim.SGD(1e-12))
    model.fit(images, ROWS[1], show=False)
    model.fit((images - np.float32(100)) / 50, ROWS[1], show=False)


def test_a_training_without_an_epoch():
    with pytest.warns(UserWarning, match="epochs=0: nothing is trained; give 1 or more, or evaluate_first=True"):
        Model(nn.Linear(2), input_shape=(3,)).fit(*ROWS, epochs=0, show=False)
    Model(nn.Linear(2), input_shape=(3,)).fit(*ROWS, epochs=0, evaluate_first=True, show=False)


def test_pieces_without_samples():
    with pytest.warns(UserWarning, match=r"Accumulate\(3\) cuts 2 samples of a rank in 3 pieces"):
        fit(nn.Linear(2), strategy=dtnn.parallel.Accumulate(3), batch_size=2)
    fit(nn.Linear(2), strategy=dtnn.parallel.Accumulate(3), batch_size=3)
