"""Case 74: what is told of a model before its first step."""

import numpy as np
import pytest

import dtnn
from dtnn import Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.data import Samples, Shift
from dtnn.nn import Dropout, Flatten, Linear, ReLU
from dtnn.plots import curves, report
from dtnn.records import Epoch, Note, Step, Stop
from dtnn.training import EarlyStopping, Save, StopAt, train


def rows(count=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((count, 4, 4, 1), np.float32), rng.integers(0, 3, count)


def network(dtype="float32", dropout=0.0):
    return Model(Flatten(), Linear(8), ReLU(), Dropout(dropout), Linear(3), input_shape=(4, 4, 1), dtype=dtype)


def fitted(model, **settings):
    settings = dict(epochs=3, batch_size=40, optimizer=optim.SGD(0.5), show=False, evaluate_first=True) | settings
    return model.fit(*rows(), **settings)


def test_full_batch_gradient_descent_tells_the_untrained_loss_twice():
    model = network(dtype="float64")
    before, also = model.evaluate(*rows()), model.evaluate(*rows(23, 1))
    history = fitted(model, validation_data=rows(23, 1))
    told = history.history
    assert history.epoch == [0, 1, 2, 3]
    assert {name: told[name][0] for name in ("loss", "accuracy")} == pytest.approx(before, rel=1e-12)
    assert {name: told[f"val_{name}"][0] for name in ("loss", "accuracy")} == pytest.approx(also, rel=1e-12)
    assert told["loss"][1] == pytest.approx(told["loss"][0], rel=1e-12)  # the first step's, before its update
    assert told["loss"][2] < told["loss"][1]
    assert told["val_loss"][1] != told["val_loss"][0]
    assert (told["samples"][0], told["seconds"][0], told["lr"][0]) == (0, 0.0, 0.5)


def test_nobody_gets_it_who_did_not_ask():
    assert fitted(network(), evaluate_first=False).epoch == [1, 2, 3]


def test_it_changes_no_weight():
    plain, first = network(dropout=0.3), network(dropout=0.3)
    fitted(plain, evaluate_first=False, batch_size=7)
    fitted(first, batch_size=7)
    np.testing.assert_array_equal(first.parameters.value, plain.parameters.value)


def test_no_epochs_but_epoch_0():
    history = fitted(network(), epochs=0)
    assert history.epoch == [0]
    assert not history.records.of(Step)


def test_dropout_is_off_and_nothing_is_augmented():
    x, y = rows()
    model, data = network(dropout=0.9), Samples(x, y, augment=(Shift(2),))
    before = model.evaluate(x, y)
    records = train(Serial(), model, data, evaluate_first=True)
    assert next(r for r in records if isinstance(r, Epoch)).metrics == pytest.approx(before, rel=1e-6)


@pytest.mark.parametrize("ranks", [2, 3])
def test_all_ranks_tell_rank_0s_weights(ranks):
    def job(comm):
        model = network("float64")
        model.parameters.value[:] *= comm.rank + 1
        return next(r for r in train(comm, model, Samples(*rows()), evaluate_first=True) if isinstance(r, Epoch))

    expected = network("float64").evaluate(*rows())
    for told in run_threads(job, ranks):
        assert told.epoch == 0
        assert told.metrics == pytest.approx(expected, rel=1e-12)


def test_a_stop_at_epoch_0_trains_nothing_on_any_rank():
    def job(comm):
        model = network()
        running, command, steps = train(comm, model, Samples(*rows()), evaluate_first=True), None, 0
        try:
            while True:
                record = running.send(command)
                steps += isinstance(record, Step)
                command = Stop("good already") if isinstance(record, Epoch) and comm.rank == 1 else None
        except StopIteration:
            return steps, record.reason

    assert run_threads(job, 3) == [(0, "stopped")] * 3


def test_listeners_know_that_it_is_no_epoch_of_training(tmp_path):
    stop = EarlyStopping("loss", patience=2, min_delta=100.0)
    assert fitted(network(), epochs=9, callbacks=[stop]).epoch == [0, 1, 2, 3]
    assert fitted(network(), epochs=9, callbacks=[stop]).epoch == [0, 1, 2, 3]  # and again, with what it remembers
    seen = []

    def saved(record):
        if isinstance(record, Epoch):
            seen.append((tmp_path / "model.npz").exists())

    fitted(network(), epochs=1, callbacks=[Save(tmp_path / "model.npz"), saved])
    assert seen == [False, True]
    assert fitted(network(), epochs=9, callbacks=[StopAt("accuracy", 0.0)]).epoch == [0]


def test_a_resumed_training_begins_where_it_was():
    model = network()
    fitted(model, epochs=2)
    history = fitted(model, epochs=3, resume=True)
    assert history.epoch == [2, 3]
    whole = network()
    fitted(whole, epochs=3)
    np.testing.assert_array_equal(model.parameters.value, whole.parameters.value)


def test_what_a_resumed_training_begins_with_is_no_epoch_without_progress():
    model, stop = network(), EarlyStopping("loss", patience=9)
    fitted(model, epochs=2, callbacks=[stop])
    stop.patience, stop.min_delta = 1, 100.0  # nothing is better from here on
    assert fitted(model, epochs=9, resume=True, callbacks=[stop]).epoch == [2, 3]


def test_a_picture_begins_at_0_and_the_rate_counts_training_only():
    from matplotlib.figure import Figure

    records = fitted(network(), validation_data=rows(9, 1), batch_size=10).records
    for told in (records, records[: records.index(records.of(Epoch)[0]) + 1], records[: records.index(records.of(Step)[1])]):
        ax = curves(told, ax=Figure().add_subplot())
        (points,) = [line for line in ax.lines if line.get_label() == "training"]
        assert points.get_xdata()[0] == 0
        assert ax.get_xlim()[0] == 0
    steps = next(line for line in ax.lines if line.get_label() == "steps")
    assert list(steps.get_xdata()) == [0.25]  # one step of four
    assert "throughput" in report(records)


def test_the_wait_is_said():
    texts = [r.text for r in train(Serial(), network(), Samples(*rows()), evaluate_first=True) if isinstance(r, Note)]
    assert texts[-1] == "evaluating before the first step"


def test_it_must_be_yes_or_no():
    with pytest.raises(TypeError, match=r"evaluate_first='yes': give True or False"):
        fitted(network(), evaluate_first="yes")


def test_on_a_cluster():
    with dtnn.Cluster(2, launcher="threads") as cluster:
        assert fitted(network(), cluster=cluster, epochs=1).epoch == [0, 1]
