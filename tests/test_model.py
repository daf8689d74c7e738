"""The user's object: what it takes, refuses, keeps and gives back."""

import copy
import html
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dtnn
from dtnn import Model, Stop
from dtnn.nn import Conv2d, Flatten, Layer, Linear, MaxPool2d, ReLU
from dtnn.records import Epoch, Step

ROOT = Path(__file__).parents[1]


def network(**settings):
    return Model(Conv2d(2, 3), ReLU(), MaxPool2d(2), Flatten(), Linear(4), input_shape=(8, 6, 1), **settings)


def data(count=24):
    rng = np.random.default_rng(0)
    return rng.standard_normal((count, 8, 6, 1)).astype(np.float32), rng.integers(0, 4, count)


def test_fit_learns_evaluate_and_predict_agree():
    x, y = data()
    model = network()
    history = model.fit(x, y, epochs=60, batch_size=8, optimizer=dtnn.optim.Adam(0.01), show=False)
    assert history.history["accuracy"][-1] > 0.9 > history.history["accuracy"][0]
    assert history.epoch == list(range(1, 61))
    assert history.reason == "done"
    found = model.evaluate(x, y)
    assert found["accuracy"] == np.mean(model.predict(x).argmax(axis=1) == y)
    assert model.history is history


@pytest.mark.parametrize("form", ["x, y", "(x, y)", "Dataset"])
def test_data_in_each_form_gives_the_same(form):
    x, y = data()
    given = {"x, y": (x, y), "(x, y)": ((x, y),), "Dataset": (dtnn.data.Dataset(x, y),)}[form]
    model, other = network(), network()
    model.fit(*given, epochs=2, show=False)
    other.fit(x, y, epochs=2, show=False)
    np.testing.assert_array_equal(model.parameters.value, other.parameters.value)


def test_a_datasets_test_rows_are_evaluated():
    x, y = data()
    digits = dtnn.data.Dataset(x[:16], y[:16], x[16:], y[16:])
    model = network()
    history = model.fit(digits, epochs=2, show=False).history
    assert history["val_loss"][-1] == pytest.approx(model.evaluate(digits)["loss"], rel=1e-6)
    assert "val_loss" not in network().fit(digits, validation_data=False, show=False).history
    other = network().fit(digits, validation_data=(x[:4], y[:4]), show=False).history
    assert "val_loss" in other


def test_fit_twice_goes_on():
    x, y = data()
    once, twice = network(), network()
    once.fit(x, y, epochs=2, batch_size=24, optimizer=dtnn.optim.SGD(0.1), show=False)
    for _ in range(2):
        history = twice.fit(x, y, batch_size=24, optimizer=dtnn.optim.SGD(0.1), show=False)
    np.testing.assert_allclose(once.parameters.value, twice.parameters.value, rtol=1e-5)
    assert twice.steps == 2
    start = history.records.last(dtnn.records.Start)
    assert start.settings["goes_on_after_steps"] == 1


def test_callbacks_see_records_and_may_stop():
    x, y = data()
    seen, models = [], []
    model = network()

    def enough(record):
        return Stop("enough") if isinstance(record, Epoch) and record.epoch == 3 else None

    history = model.fit(x, y, epochs=50, callbacks=[seen.append, lambda record, m: models.append(m), enough], show=False)
    assert history.epoch == [1, 2, 3]
    assert history.reason == "stopped"
    assert any(isinstance(record, Step) for record in seen)
    assert all(m is model for m in models)


def test_start_leaves_this_thread_free_and_the_model_has_the_weights():
    x, y = data()
    model, other = network(), network()
    run = model.start(x, y, epochs=3, batch_size=8)
    assert run.result(60) is not None
    other.fit(x, y, epochs=3, batch_size=8, show=False)
    np.testing.assert_array_equal(model.parameters.value, other.parameters.value)
    assert model.steps == 9


def test_an_interrupt_keeps_what_there_is():
    x, y = data()
    model = network()

    def interrupt(record):
        if isinstance(record, Epoch) and record.epoch == 2:
            raise KeyboardInterrupt

    history = model.fit(x, y, epochs=10**6, callbacks=[interrupt], show=False)
    assert history.reason == "interrupted"
    assert history.epoch in ([1], [1, 2])
    assert model.fit(x, y, epochs=1, show=False).reason == "done"


def test_a_failing_callback_keeps_the_history():
    x, y = data()
    model = network()

    def fail(record):
        if isinstance(record, Epoch) and record.epoch == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        model.fit(x, y, epochs=5, callbacks=[fail], show=False)
    assert model.history.reason == "failed"
    assert model.history.records.of(Step)


# ---- files


def test_save_and_load(tmp_path):
    x, y = data()
    model = network(seed=3)
    model.fit(x, y, epochs=1, show=False)
    model.save(tmp_path / "model.npz")
    again = dtnn.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    assert repr(again) == repr(model)
    assert again.steps == model.steps
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


class Twice(Layer):
    def __init__(self, times=2):
        self.times = times

    def forward(self, x, step=None):
        return self.times * x, lambda dy: self.times * dy


def test_own_layers_are_loaded_only_when_given(tmp_path):
    model = Model(Flatten(), Twice(times=3), Linear(2), input_shape=(2, 2, 1))
    model.save(tmp_path / "own.npz")
    with pytest.raises(ValueError, match=r"layer 'Twice' is none of dtnn's.*layers=\[Twice\]"):
        dtnn.load(tmp_path / "own.npz")
    x = np.ones((1, 2, 2, 1), np.float32)
    np.testing.assert_array_equal(dtnn.load(tmp_path / "own.npz", layers=[Twice]).predict(x), model.predict(x))


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    model = network()
    model.save(tmp_path / "model.npz")
    before = (tmp_path / "model.npz").read_bytes()
    monkeypatch.setattr("numpy.savez", lambda *a, **k: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        model.save(tmp_path / "model.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]
    assert (tmp_path / "model.npz").read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"no archive", "pickle"])
def test_a_file_that_is_no_model_is_refused_and_never_executed(tmp_path, content):
    path = tmp_path / "hostile.npz"
    if content == "pickle":

        class Bomb:
            def __reduce__(self):
                return exec, ("raise SystemExit('executed')",)

        np.savez(path, dtnn=np.array([Bomb()], object))
    else:
        path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a model saved by dtnn, or is damaged"):
        dtnn.load(path)


def test_pickle_and_code():
    model = network(seed=5)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.parameters.value, model.parameters.value)
    space = {}
    exec(model.to_code(), space)
    assert repr(space["model"]) == repr(model)


def test_transposed_weights_survive(tmp_path):
    """Case 95: whatever the layout of what is loaded, files and messages are in C order."""
    model = Model(Linear(3), input_shape=(3,))
    state = model.state_dict()
    state["linear_1.weight"] = np.arange(9, dtype=np.float32).reshape(3, 3).T
    model.load_state_dict(state)
    model.save(tmp_path / "t.npz")
    np.testing.assert_array_equal(dtnn.load(tmp_path / "t.npz").state_dict()["linear_1.weight"], state["linear_1.weight"])


# ---- mistakes


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"optimizer": "adan"}, "no optimizer is called 'adan': did you mean 'Adam'"),
        ({"loss": "crossentropy"}, "no loss is called 'crossentropy': did you mean 'cross_entropy'"),
        ({"metrics": ["acuracy"]}, "no metric is called 'acuracy': did you mean 'accuracy'"),
        ({"epochs": -1}, "epochs=-1"),
        ({"epochs": 1.5}, "epochs=1.5"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"batch_size": 8, "batch_size_per_rank": 8}, "are both given"),
    ],
)
def test_settings_that_are_wrong(settings, told):
    with pytest.raises((TypeError, ValueError), match=told):
        network().fit(*data(), show=False, **settings)


def test_a_setting_that_is_not_known():
    with pytest.raises(TypeError, match="epoch"):
        network().fit(*data(), show=False, epoch=3)


def test_data_that_do_not_fit():
    x, y = data()
    with pytest.raises(ValueError, match=r"samples of shape \(8, 6\).*takes \(8, 6, 1\).*\[\.\.\., np\.newaxis\]"):
        network().fit(x[..., 0], y, show=False)
    with pytest.raises(ValueError, match="is 4, but with 4 classes the labels go from 0 to 3"):
        network().fit(x, y + 1, show=False)
    x[3, 2, 1, 0] = np.nan
    with pytest.raises(ValueError, match=r"nan|NaN"):
        network().fit(x, y, show=False)
    with pytest.raises(ValueError, match=r"takes \(8, 6, 1\)"):
        network().predict(np.zeros((2, 28, 28, 1), np.float32))


def test_layers_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"linear_1|Linear\(4\)"):
        Model(Conv2d(2, 3), Linear(4), input_shape=(8, 6, 1))
    with pytest.raises(ValueError, match="input_shape"):
        Model(Linear(3), input_shape=(0,))
    with pytest.raises(ValueError, match="float16"):
        Model(Linear(3), input_shape=(2,), dtype="float16")


# ---- going on


RESUME = """
import sys, numpy as np, dtnn
x, y = np.load(sys.argv[1])["x"], np.load(sys.argv[1])["y"]
model = dtnn.load(sys.argv[2])
history = model.fit(x, y, epochs=4, batch_size=7, optimizer=dtnn.optim.Adam(dtnn.optim.cosine(0.01)), resume=True, show=False)
assert history.epoch == [3, 4], history.epoch
model.save(sys.argv[2])
"""


@pytest.mark.processes
def test_a_resumed_training_is_as_if_there_had_been_no_pause(tmp_path):
    """Case 48: 4 epochs, or 2, a file, another process and 2 more: the same bits."""
    x, y = data()

    def fresh():
        return Model(Conv2d(2, 3), ReLU(), Flatten(), dtnn.nn.Dropout(0.3), Linear(4), input_shape=(8, 6, 1))

    def stop_after_two(record):
        return Stop() if isinstance(record, Epoch) and record.epoch == 2 else None

    settings = dict(epochs=4, batch_size=7, optimizer=dtnn.optim.Adam(dtnn.optim.cosine(0.01)), show=False)
    through, paused = fresh(), fresh()
    whole = through.fit(x, y, **settings)
    paused.fit(x, y, callbacks=[dtnn.Save(tmp_path / "paused.npz"), stop_after_two], **settings)
    np.savez(tmp_path / "data.npz", x=x, y=y)
    command = [sys.executable, "-c", RESUME, str(tmp_path / "data.npz"), str(tmp_path / "paused.npz")]
    subprocess.run(command, check=True, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT)})
    resumed = dtnn.load(tmp_path / "paused.npz")
    np.testing.assert_array_equal(resumed.parameters.value, through.parameters.value)
    assert resumed.steps == through.steps == 16
    assert resumed.training.state["step"] == 16
    assert [values["loss"] for values in resumed.training.past] == whole.history["loss"]


def test_what_can_not_be_resumed():
    x, y = data()
    with pytest.raises(ValueError, match="no training to go on with"):
        network().fit(x, y, resume=True, show=False)
    model = network()
    model.fit(x, y, optimizer="adam", show=False)
    with pytest.raises(ValueError, match=r"made with Adam.*SGD.*can't go on"):
        model.fit(x, y, epochs=2, optimizer="sgd", resume=True, show=False)


def test_saving_where_there_is_no_folder_is_told_early(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        dtnn.Save(tmp_path / "missing" / "model.npz")


def test_only_the_best_is_saved(tmp_path):
    model, path = network(), tmp_path / "best.npz"
    losses = iter([3.0, 1.0, 2.0])
    save, saved = dtnn.Save(path, best="loss"), []
    for epoch, loss in enumerate(losses, 1):
        model.steps = epoch
        save(Epoch(epoch, epoch, 1, 1.0, 0.1, {"loss": loss}, 0.0), model)
        saved.append(dtnn.load(path).steps)
    assert saved == [1, 2, 2]


def test_early_stopping_and_a_value_to_reach():
    x, y = data()
    stop = dtnn.EarlyStopping("loss", patience=2, min_delta=10.0)
    history = network().fit(x, y, epochs=20, callbacks=[stop], show=False)
    assert history.epoch == [1, 2, 3]
    assert "has not improved" in history.records[-1].text
    with pytest.raises(ValueError, match="no metric 'val_loss' to watch; there are loss, accuracy"):
        network().fit(x, y, callbacks=[dtnn.EarlyStopping()], show=False)
    reached = network().fit(x, y, epochs=200, optimizer="adam", callbacks=[dtnn.StopAt("accuracy", 0.5)], show=False)
    assert reached.history["accuracy"][-1] >= 0.5 > max([0.0, *reached.history["accuracy"][:-1]])


# ---- more than classes of images


@pytest.mark.parametrize("outputs", [1, 3, 16])
def test_regression(outputs):
    """Targets stay with their samples, also where a share has as many samples as the model has outputs."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 5)).astype(np.float32)
    y = x @ rng.standard_normal((5, outputs)).astype(np.float32)
    model = Model(Linear(outputs), input_shape=(5,))
    settings = dict(loss="mse", metrics=("mae",), epochs=60, batch_size=16, optimizer=dtnn.optim.Adam(0.05), show=False)
    history = model.fit(x, y, **settings).history
    assert history["loss"][-1] < 1e-3 < history["loss"][0]
    assert model.evaluate(x, y, loss="mse", metrics=("mae",))["mae"] < 0.05
    np.testing.assert_allclose(model.predict(x), y, atol=0.2)


def test_tokens():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 7, (64, 5)).astype(np.int32)
    model = Model(dtnn.nn.Embedding(7, 8), Flatten(), Linear(7), input_shape=(5,))
    history = model.fit(x, x[:, 2], epochs=40, batch_size=16, optimizer=dtnn.optim.Adam(0.02), show=False).history
    assert history["accuracy"][-1] > 0.9
    assert model.predict(x).shape == (64, 7)


def test_maps_come_back_as_they_were_handed_over():
    x = np.arange(2 * 5 * 6, dtype=np.float32).reshape(2, 5, 6, 1)
    np.testing.assert_array_equal(Model(ReLU(), input_shape=(5, 6, 1)).predict(x), x)
    rows = np.arange(2 * 4 * 3, dtype=np.float32).reshape(2, 4, 3)
    np.testing.assert_array_equal(Model(ReLU(), input_shape=(4, 3)).predict(rows), rows)


def test_fewer_samples_than_ranks_are_one_batch():
    x, y = data(3)
    alone = network()
    alone.fit(x, y, show=False)
    with dtnn.Cluster(4, launcher="threads") as cluster:
        model = network()
        with pytest.warns(UserWarning, match="3 samples for 4 ranks: some have nothing to do"):
            model.fit(x, y, cluster=cluster, show=False)
    np.testing.assert_allclose(model.parameters.value, alone.parameters.value, rtol=1e-5, atol=1e-7)


# ---- layers that are shared, frozen, used twice


def test_a_trained_models_layers_begin_a_new_one():
    x, y = data()
    first = network()
    first.fit(x, y, epochs=2, show=False)
    before = first.predict(x)
    second = Model(*first.layers[:-1], Linear(4), input_shape=(8, 6, 1))
    np.testing.assert_array_equal(second.layers[0].weight.value, first.layers[0].weight.value)
    second.fit(x, y, epochs=2, show=False)
    np.testing.assert_array_equal(first.predict(x), before)
    assert first.layers[0].weight.value.base is first.parameters.value.base


@pytest.mark.parametrize("where", ["here", "threads"])
def test_a_frozen_layer_stays_as_it_is(where, tmp_path):
    x, y = data()
    model = network()
    model.layers[0].trainable = False
    frozen, free = model.layers[0].weight.value.copy(), model.layers[4].weight.value.copy()
    with dtnn.Cluster(2, launcher="threads") as cluster:
        model.fit(x, y, epochs=2, cluster=None if where == "here" else cluster, show=False)
    np.testing.assert_array_equal(model.layers[0].weight.value, frozen)
    assert (model.layers[4].weight.value != free).all()
    model.save(tmp_path / "frozen.npz")
    again = dtnn.load(tmp_path / "frozen.npz")
    assert [segment.trainable for segment in again.parameters.segments] == [True, True, False, False]
    model.layers[0].trainable = True
    model.fit(x, y, epochs=1, show=False)
    assert (model.layers[0].weight.value != frozen).any()


def test_a_layer_used_twice_is_saved_and_loaded(tmp_path):
    same = Linear(6)
    model = Model(Linear(6), same, ReLU(), same, Linear(2), input_shape=(3,))
    model.save(tmp_path / "tied.npz")
    again = dtnn.load(tmp_path / "tied.npz")
    assert again.layers[1] is again.layers[3]
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(x), model.predict(x))


def test_a_model_that_is_being_trained_is_not_trained_twice_at_once():
    x, y = data()
    model = network()
    run = model.start(x, y, epochs=10**6)
    for again in (model.fit, model.start):
        with pytest.raises(RuntimeError, match=r"being trained by a run.*model\.run\.end\(\)"):
            again(x, y)
    run.stop()
    run.result(20)
    assert model.fit(x, y, show=False).reason == "done"


@pytest.mark.parametrize("callback", [lambda record: True, lambda record: {"lr": 0.1}])
def test_a_callback_that_returns_something_else_is_told(callback):
    with pytest.raises(TypeError, match=r"returned (True|\{'lr': 0.1\}); return dtnn\.Stop"):
        network().fit(*data(), callbacks=[callback], show=False)


def test_print_is_a_callback_of_the_record_alone(capsys):
    network().fit(*data(), callbacks=[print], show=False)
    assert "parameters" not in capsys.readouterr().out.replace("'parameters'", "")


def test_what_can_not_be_resumed_in_other_ways():
    x, y = data()
    model = network()
    model.fit(x, y, optimizer="adam", batch_size=8, show=False)
    with pytest.raises(ValueError, match=r"batch_size=8 and can't go on with 12"):
        model.fit(x, y, epochs=2, optimizer="adam", batch_size=12, resume=True, show=False)
    with pytest.raises(ValueError, match=r"made with Adam.*LAMB.*can't go on"):
        model.fit(x, y, epochs=2, optimizer="lamb", batch_size=8, resume=True, show=False)


# ---- what a beginner types


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"optimizer": None}, TypeError, "optimizer=None is no optimizer"),
        ({"optimizer": dtnn.optim.SGD}, TypeError, r"write SGD\(\.\.\.\)"),
        ({"loss": None}, TypeError, "loss=None is no function"),
        ({"metrics": 3}, TypeError, "metrics=3"),
        ({"callbacks": [dtnn.EarlyStopping]}, TypeError, r"EarlyStopping is a class; write EarlyStopping\(...\)"),
        ({"metrics": [dtnn.nn.metrics.Accuracy]}, TypeError, r"Accuracy is a class; write Accuracy\(...\)"),
        ({"callbacks": [lambda: 1]}, TypeError, "takes 0 arguments; it is called with a record, or with a record and the model"),
        ({"callbacks": [lambda a, b, c: 1]}, TypeError, "takes 3 arguments; it is called with a record, or with a"),
        ({"lr": 0.1}, TypeError, r"no setting 'lr'; give it to the optimizer: optimizer=SGD\(0.01"),
        ({"ranks": 2}, TypeError, r"no setting 'ranks'; give cluster=dtnn.Cluster\(2\)"),
        ({"verbose": 0}, TypeError, "no setting 'verbose'; give show=False"),
        ({"shuffle": False}, TypeError, "no setting 'shuffle'; the samples come in another order in each epoch"),
        ({"validation_split": 0.2}, TypeError, "no setting 'validation_split'; give the samples themselves, validation_data="),
        ({"validation_data": 0.2}, TypeError, r"validation_data is a float \(0.2\) without targets"),
        ({"validation_data": (np.ones((2, 3), np.float32), [0, 1])}, ValueError, r"x_val has samples of shape \(3,\)"),
        ({"loss": "sparse_categorical_crossentropy"}, ValueError, "did you mean 'cross_entropy'"),
        ({"loss": "mean_squared_error"}, ValueError, "did you mean 'mse'"),
        ({"metrics": ["acc"]}, ValueError, "did you mean 'accuracy'"),
        ({"callbacks": 3}, TypeError, "callbacks=3"),
        ({"cluster": 2}, TypeError, r"cluster=2 is no cluster; start one with dtnn\.Cluster\(2\)"),
        ({"strategy": 7}, TypeError, "strategy=7 is none"),
        ({"strategy": "rign"}, ValueError, "rign.*ring"),
        ({"strategy": "shraded"}, ValueError, "shraded.*did you mean .Sharded.*LocalSGD.*ring"),
        ({"seed": 1.5}, TypeError, "seed=1.5"),
        ({"seed": 2**70}, ValueError, "at most"),
        ({"epoch": 2}, TypeError, "no setting 'epoch'; did you mean epochs"),
    ],
)
def test_what_is_typed_wrong_is_told(settings, error, told):
    with pytest.raises(error, match=told):
        network().fit(*data(), show=False, **settings)


def test_one_metric_and_one_callback_need_no_list():
    seen = []
    history = network().fit(*data(), metrics="accuracy", callbacks=seen.append, show=False)
    assert "accuracy" in history.history
    assert seen


def test_an_algorithm_is_a_strategy():
    with dtnn.Cluster(3, launcher="threads") as cluster:
        history = network().fit(*data(), strategy="ring", cluster=cluster, show=False)
    assert "ring" in history.records.of(dtnn.records.Start)[0].settings["strategy"]


def test_batch_sizes_of_nothing():
    with pytest.raises(ValueError, match="batch_size=0"):
        network().predict(data()[0], batch_size=0)
    with pytest.raises(ValueError, match="batch_size=-1"):
        network().evaluate(*data(), batch_size=-1)


def test_a_layer_that_does_not_tell_how_it_is_made_is_trained():
    class Applied(Layer):
        def __init__(self, f):
            self.f = f

        def forward(self, x, step=None):
            return self.f(x), lambda dy: dy

    model = Model(Flatten(), Applied(lambda x: x), Linear(4), input_shape=(8, 6, 1))
    assert model.fit(*data(), show=False).reason == "done"
    with pytest.raises(ValueError, match="Applied can't be described"):
        model.save("never.npz")


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_validation_smaller_than_the_ranks(count):
    x, y = data()
    with dtnn.Cluster(3, launcher="threads") as cluster:
        model = network()
        history = model.fit(x, y, validation_data=(x[:count], y[:count]), cluster=cluster, show=False).history
    assert history["val_loss"][-1] == pytest.approx(model.evaluate(x[:count], y[:count])["loss"], rel=1e-5)


@pytest.mark.parametrize("damage", ["layers", "input_shape", "steps", "frozen", "dtype"])
def test_a_damaged_description_is_told(tmp_path, damage):
    model, path = network(), tmp_path / "model.npz"
    model.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    about = json.loads(arrays["dtnn"].tobytes())
    del about[damage]
    np.savez(path, **arrays | {"dtnn": np.frombuffer(json.dumps(about).encode(), np.uint8)})
    with pytest.raises(ValueError, match="is not a model saved by dtnn, or is damaged"):
        dtnn.load(path)


def test_a_checkpoint_stays_as_it_was():
    x, y = data()
    kept, states = [], []

    def keep(record, model):
        if isinstance(record, Epoch):
            kept.append(model.training)
            states.append(model.training.state["momentum"].copy())

    network().fit(x, y, epochs=3, callbacks=[keep], show=False)
    for checkpoint, state in zip(kept, states):
        np.testing.assert_array_equal(checkpoint.state["momentum"], state)
    assert not np.array_equal(states[0], states[1])


def test_nothing_left_to_do_leaves_what_can_be_resumed():
    x, y = data()
    model = network()
    with dtnn.Cluster(2, launcher="threads") as cluster:
        model.fit(x, y, epochs=1, cluster=cluster, show=False)
        with pytest.warns(UserWarning, match="epochs=1, of which 1 were made before: nothing is trained.*give more"):
            model.fit(x, y, epochs=1, resume=True, cluster=cluster, show=False)
    assert model.training.epoch == 1


@pytest.mark.parametrize("what", ["fit", "start", "freeze"])
def test_a_model_that_is_trained_is_not_trained_twice_at_once_nor_frozen(what):
    """...by a callback, or by another thread: weights and gradients of both would be mixed without a word."""
    model, told = network(), []

    def callback(record):
        if not isinstance(record, Epoch) or told:
            return
        model.layers[0].trainable = what != "freeze"
        act, arguments = (model.refresh, ()) if what == "freeze" else (getattr(model, what), data())
        with pytest.raises(RuntimeError, match=r"is being trained.*let it end first, or train a copy") as caught:
            act(*arguments)
        told.append(caught.value)

    model.fit(*data(), epochs=2, callbacks=[callback], show=False)
    assert told
    model.fit(*data(), show=False)  # and afterwards it may
    assert model.layers[0].weight.learns == (what != "freeze")


def test_a_view_that_fails_ends_the_run(monkeypatch):
    class Broken:
        def __init__(self, run):
            pass

        def update(self):
            raise RuntimeError("no display")

        def close(self):
            pass

    monkeypatch.setattr("dtnn.running._progress", Broken)
    with dtnn.Cluster(2, launcher="threads") as cluster:
        model = network()
        with pytest.raises(RuntimeError, match="no display"):
            model.fit(*data(), epochs=10**6, cluster=cluster)
        assert model.run.done


def test_paths_and_what_they_need(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    model = network(seed=np.int64(3))
    model.save("~/model.npz")
    assert dtnn.load("~/model.npz").seed == 3
    assert dtnn.load(os.fsencode(tmp_path / "model.npz")).seed == 3
    assert dtnn.Save("~/other.npz").path == str(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError, match=r"missing.model\.npz can't be written: there is no folder"):
        model.save(tmp_path / "missing" / "model.npz")
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(ValueError, match="is not a model saved by dtnn"):
        dtnn.load(tmp_path / "array.npy")


@pytest.mark.parametrize("settings", [{"seed": -1}, {"seed": "a"}, {"input_shape": (6.7,)}, {"input_shape": "28"}])
def test_models_that_can_not_be(settings):
    with pytest.raises((TypeError, ValueError), match=next(iter(settings))):
        Model(Linear(3), **{"input_shape": (4,)} | settings)


def test_saving_every_zeroth_epoch(tmp_path):
    with pytest.raises(ValueError, match="every=0"):
        dtnn.Save(tmp_path / "m.npz", every=0)


# ---- what other libraries' users try


DATA = {
    "a Dataset and targets": (
        lambda x, y: (dtnn.data.Dataset(x, y), y),
        "data is a Dataset, which has its targets: give it alone",
    ),
    "no data": (lambda x, y: (), "data is a NoneType .* pass a Dataset"),
    "a function": (lambda x, y: (dtnn.data.mnist5k,), r"without targets \(call it, mnist5k\(\)\)"),
    "a pair and targets": (lambda x, y: ((x, y), y), "x is no regular array"),
    "samples of different shapes": (lambda x, y: ([[1, 2], [3]], [0, 1]), "x is no regular array.*Crop or pad them"),
}


@pytest.mark.parametrize("name", DATA)
def test_data_in_another_form_are_told(name):
    make, text = DATA[name]
    with pytest.raises(TypeError, match=text):
        network().fit(*make(*data()), show=False)


def test_keywords_for_the_data_are_told():
    x, y = data()
    with pytest.raises(TypeError, match=r"fit has no setting 'x'; give the inputs by position, fit\(x, y\)"):
        network().fit(x=x, y=y, show=False)


def test_samples_without_targets_are_told():
    x, _ = data()
    with pytest.raises(ValueError, match=r"these samples have no targets; make them with some, Samples\(x, y\)"):
        network().fit(dtnn.data.Samples(x), show=False)
    with pytest.raises(TypeError, match=r"x is a Dataset: here the inputs alone are wanted, an array, such as data\.x_test"):
        network().predict(dtnn.data.Dataset(*data()))


@pytest.mark.parametrize("name", ["compile", "add", "forward", "train", "get_weights", "load_weights", "cuda"])
def test_methods_of_other_libraries_are_answered(name):
    with pytest.raises(AttributeError, match=f"a Model has no '{name}': .+"):
        getattr(network(), name)


def test_other_names_are_missing_as_usual():
    assert not hasattr(network(), "nothing")
    with pytest.raises(AttributeError, match=r"a Model has no 'nothing'$"):
        network().nothing  # noqa: B018


def test_a_regression_needs_no_metrics():
    x, _ = data()
    history = Model(Flatten(), Linear(1), input_shape=(8, 6, 1)).fit(x, x.mean((1, 2, 3)), loss="mse", show=False)
    assert list(history.history) == ["loss", "lr", "seconds", "samples"]
    assert list(Model(Flatten(), Linear(1), input_shape=(8, 6, 1)).evaluate(x, x.mean((1, 2, 3)), loss="mse")) == ["loss"]


@pytest.mark.parametrize("form", [lambda y: y, lambda y: y.astype(np.float32), lambda y: y[:, None]])
def test_yes_or_no_has_an_accuracy(form):
    x, y = data()[0], form(np.arange(24) % 2)
    model = Model(Flatten(), Linear(1), input_shape=(8, 6, 1))
    history = model.fit(x, y, loss="binary_cross_entropy", epochs=100, optimizer="adam", show=False).history
    assert history["accuracy"][-1] == np.mean((model.predict(x)[:, 0] > 0) == (y.reshape(-1) == 1))


# ---- what is changed by hand

USES = {
    "fit": lambda model: model.fit(*data(), show=False),
    "evaluate": lambda model: model.evaluate(*data()),
    "predict": lambda model: model.predict(data()[0]),
    "save": lambda model: model.save("never written.npz"),
    "deepcopy": copy.deepcopy,
    "summary": lambda model: model.summary(),
    "to_code": lambda model: model.to_code(),
}


@pytest.mark.parametrize("use", USES)
def test_a_layer_that_was_put_into_a_built_model_is_told_with_the_remedy(use):
    model = network()
    model.predict(data()[0])
    model.net.layers.append(Linear(3))
    with pytest.raises(ValueError, match=r"layer \d+, Linear\(3\), was put into a network that is built already"):
        USES[use](model)
    longer = Model(*model.net.layers, input_shape=model.input_shape)  # as the message says
    np.testing.assert_array_equal(longer.layers[-2].weight.value, model.layers[-1].weight.value)
    assert longer.predict(data()[0]).shape[1:] == (3,)


@pytest.mark.parametrize("use", sorted(USES.keys() - {"summary"}))
def test_other_layers_in_the_model_s_attribute_are_told(use):
    model = network()
    model.layers = (*model.layers, Linear(3))
    with pytest.raises(ValueError, match=r"model.layers are others than those that were built: make a new model of them"):
        USES[use](model)


@pytest.mark.parametrize("use", ["fit", "copy", "load"])
def test_weights_that_were_replaced_are_those_of_the_model(use):
    model, ones = network(), np.ones_like(network().layers[-1].weight.value)
    model.layers[-1].weight.value = ones
    if use == "fit":
        model.fit(*data(), optimizer="sgd", show=False)
        assert (model.layers[-1].weight.value != 1).all(), "it was not trained"
        np.testing.assert_allclose(model.layers[-1].weight.value, 1, atol=0.1)
        np.testing.assert_array_equal(model.state_dict()["linear_1.weight"], model.layers[-1].weight.value)
    elif use == "copy":
        np.testing.assert_array_equal(copy.deepcopy(model).layers[-1].weight.value, 1)
    else:
        model.load_state_dict(network().state_dict())
        np.testing.assert_array_equal(model.layers[-1].weight.value, network().layers[-1].weight.value)


def test_in_a_notebook_it_is_a_table_and_in_a_terminal_text():
    model = network()
    page = model._repr_html_()
    assert page.count("<tr>") == len(model.summary()) + 2
    assert "Conv2d(2, 3)" in page
    assert "object at 0x" not in repr(model)


def test_a_long_layer_is_cut_in_the_table_and_whole_under_the_mouse():
    page = dtnn.zoo.resnet20()._repr_html_()
    longest = max((row.layer for row in dtnn.zoo.resnet20().summary()), key=len)
    assert f'title="{html.escape(longest)}"' in page
    assert f">{html.escape(longest[:45])}...</td>" in page
    assert f">{html.escape(longest)}</td>" not in page
