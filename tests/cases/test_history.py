"""Cases of what `fit`, `evaluate` and `History` tell, in the numbers of the reports."""

import numpy as np
import pytest

import dtnn
from dtnn import Cluster, Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.data import Samples
from dtnn.nn import Dropout, Flatten, Layer, Linear, ReLU, Reshape, cross_entropy, metrics, mse
from dtnn.records import Epoch, Step
from dtnn.training import EarlyStopping, NotFinite, StopAt, evaluate, train


def itself(outputs, targets, weight=None):
    """A loss that is the output: each sample brings its own."""
    return float(outputs.sum(dtype=np.float64)), np.zeros_like(outputs)


def told(values, ranks, batch_size):
    """The loss of an epoch, and of `evaluate`, over samples whose losses are the values."""
    rows = Samples(np.array(values, np.float32)[:, None], np.zeros(len(values), int))

    def job(comm):
        model = Model(Reshape((1,)), input_shape=(1,))
        records = train(comm, model, rows, loss=itself, metrics=(), epochs=1, batch_size=batch_size)
        trained = next(record for record in records if isinstance(record, Epoch)).metrics["loss"]
        return trained, evaluate(comm, model, rows, loss=itself, metrics=(), batch_size=batch_size)["loss"]

    return [value for pair in run_threads(job, ranks) for value in pair]


@pytest.mark.parametrize("ranks", [1, 2])
def test_case_73_the_small_last_batch_weighs_what_it_has(ranks):
    assert told([10, 10, 9], ranks, 2) == [pytest.approx(29 / 3)] * 2 * ranks


def test_case_41_values_0_to_8_on_two_ranks_have_the_mean_4():
    assert told(range(9), 2, 9) == [4.0] * 4


def test_case_43_nine_losses_of_1_are_1():
    assert told([1] * 9, 2, 4) == [1.0] * 4


OF_LABELS = [metrics.accuracy, metrics.TopK(2), metrics.Hinge(), metrics.ConfusionMatrix(3)]
OF_LABELS += [metrics.precision, metrics.recall, metrics.f1]
OF_NUMBERS = [metrics.mse, metrics.mae, metrics.r2]


@pytest.mark.parametrize("ranks", [2, 5])
@pytest.mark.parametrize("kind", [OF_LABELS, OF_NUMBERS], ids=["labels", "numbers"])
def test_case_41_every_metric_is_that_of_all_samples(kind, ranks):
    """In training and in evaluation; with 7 samples in batches of 6 on 5 ranks shares are empty."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((7, 4)).astype(np.float32)
    rows = Samples(x, rng.integers(0, 3, 7) if kind is OF_LABELS else rng.random((7, 3)).astype(np.float32))
    settings = dict(loss=cross_entropy if kind is OF_LABELS else mse, metrics=kind)

    def job(comm):
        model = Model(Linear(3), input_shape=(4,), dtype="float64")
        running = train(comm, model, rows, optimizer=optim.SGD(0.0), validation=rows, batch_size=6, **settings)
        told = next(record for record in running if isinstance(record, Epoch)).metrics
        return told, evaluate(comm, model, rows, batch_size=6, **settings)

    _, alone = job(Serial())
    assert len(alone) == 1 + len(kind)
    for told, found in run_threads(job, ranks):
        assert found == pytest.approx(alone, rel=1e-9)
        assert told == pytest.approx({**alone, **{f"val_{name}": value for name, value in alone.items()}}, rel=1e-9)


@pytest.mark.parametrize("split", [[3, 2], [5], [1, 4]])
def test_case_33_the_gradient_of_unequal_shares(split):
    """The loss mean((w x)^2), w = 1, x = 1 .. 5: the gradient is 22."""

    def loss(outputs, targets, weight):
        return float((outputs**2).sum()), 2 * outputs / weight

    rows = Samples(np.arange(1.0, 6, dtype=np.float32)[:, None], np.zeros(5, int))

    def job(comm):
        model = Model(Linear(1, bias=False), input_shape=(1,), dtype="float64")
        model.layers[0].weight.value[...] = 1
        running = train(comm, model, rows, loss=loss, metrics=(), optimizer=optim.SGD(0.5), epochs=1, batch_size=5)
        steps = [record for record in running if isinstance(record, Step)]
        return (1 - float(model.layers[0].weight.value[0, 0])) / 0.5, steps[0].loss

    for gradient, value in run_threads(job, len(split)):
        assert gradient == pytest.approx(22.0, rel=1e-12)
        assert value == pytest.approx(11.0)


def images(count=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((count, 4, 4, 1), np.float32), rng.integers(0, 3, count)


def network(dtype="float32"):
    return Model(Flatten(), Linear(8), ReLU(), Dropout(0.2), Linear(3), input_shape=(4, 4, 1), dtype=dtype)


def test_case_73_the_last_batch_counts_by_its_samples():
    """Losses 10 and 10, then 9, in batches of two."""

    def told(outputs, targets, weight):
        return float(targets.sum()), np.zeros_like(outputs)

    x, losses = np.ones((3, 2), np.float32), np.array([10.0, 10.0, 9.0])
    for seed in range(3):  # whoever comes last
        model = Model(Linear(1), input_shape=(2,))
        history = model.fit(x, losses, loss=told, metrics=(), batch_size=2, epochs=2, seed=seed, show=False)
        assert history.history["loss"] == pytest.approx([29 / 3] * 2, rel=1e-6)


def test_case_74_the_first_loss_told_is_that_before_training():
    x, y = images()
    model = Model(Flatten(), Linear(8), ReLU(), Linear(3), input_shape=(4, 4, 1))
    before = model.evaluate(x, y)
    history = model.fit(x, y, epochs=2, batch_size=40, optimizer=optim.SGD(0.5), show=False).history
    assert history["loss"][0] == pytest.approx(before["loss"], rel=1e-6)
    assert history["accuracy"][0] == pytest.approx(before["accuracy"])
    assert history["loss"][1] < history["loss"][0]


def test_case_77_no_epochs():
    model = network()
    before = model.parameters.value.copy()
    with pytest.warns(UserWarning, match="epochs=0: nothing is trained"):
        history = model.fit(*images(), epochs=0, show=False)
    assert history.epoch == []
    assert not any(history.history.values())
    assert "no epoch" in repr(history)
    np.testing.assert_array_equal(model.parameters.value, before)


@pytest.mark.parametrize("ranks", [None, 2, 3])
def test_case_78_evaluate_equals_the_last_validation(ranks):
    """To 1e-6, with any batch size, after a training on any number of ranks."""
    x, y = images()
    rows, model = images(23, seed=1), network()
    settings = dict(validation_data=rows, epochs=3, batch_size=16, optimizer=optim.Adam(0.05), show=False)
    if ranks is None:
        history = model.fit(x, y, **settings).history
    else:
        with Cluster(ranks, launcher="threads") as cluster:
            history = model.fit(x, y, cluster=cluster, **settings).history
    for batch_size in (1, 7, 23, 256):
        found = model.evaluate(*rows, batch_size=batch_size)
        assert found["loss"] == pytest.approx(history["val_loss"][-1], rel=1e-6)
        assert found["accuracy"] == pytest.approx(history["val_accuracy"][-1], rel=1e-6)


def test_case_78_messages_have_the_settings_that_were_set():
    x, y = images()
    stop = EarlyStopping("loss", patience=4, min_delta=100.0)
    history = network().fit(x, y, epochs=20, callbacks=[stop], show=False)
    assert len(history.epoch) == 5
    assert "for 4 epochs" in str(history.records.last(dtnn.records.Finish).text)
    history = network().fit(x, y, epochs=20, callbacks=[StopAt("accuracy", 0.0125)], show=False)
    assert "0.0125" in str(history.records.last(dtnn.records.Finish).text)


class Spoils(Layer):
    """Gives no finite number at step 2."""

    def forward(self, x, step=None):
        return x * np.float32(np.nan if step.training and step.number == 2 else 1), lambda dy: dy


@pytest.mark.parametrize("place", range(5))
def test_a_loss_that_is_not_finite_names_the_first_layer(place):
    """Behind each of the layers of a network; the weights are those of the step before."""
    layers = [Flatten(), Linear(8), ReLU(), Linear(3)]
    layers.insert(place, Spoils())
    model, (x, y) = Model(*layers, input_shape=(4, 4, 1)), images()
    with pytest.raises(NotFinite, match=r"step 2 .*the output of spoils_1.*smaller learning rate"):
        list(train(Serial(), model, Samples(x, y), epochs=1, batch_size=10))
    assert np.isfinite(model.parameters.value).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_weight_that_is_not_finite_names_its_layer(bad):
    model, (x, y) = network(), images()
    model.layers[4].weight.value[1, 2] = bad
    model.layers[1].bias.value[...] = 10  # so that no ReLU hides what meets it
    with pytest.raises(NotFinite, match=r"step 1 .*the output of linear_2.*make the model anew"):
        list(train(Serial(), model, Samples(x, y), epochs=1, batch_size=10))
