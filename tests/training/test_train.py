"""What one run of `train` tells and does."""

import math
import time

import numpy as np
import pytest

from dtnn import Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.data import Samples
from dtnn.nn import BatchNorm1d, Flatten, Layer, Linear, ReLU
from dtnn.records import Epoch, Finish, Ledger, Note, Place, Start, Step, Stop
from dtnn.training import EarlyStopping, NotFinite, evaluate, train


def rows(count=20):
    rng = np.random.default_rng(0)
    return Samples(rng.standard_normal((count, 4)).astype(np.float32), rng.integers(0, 3, count))


def network(**settings):
    return Model(Linear(5), ReLU(), Linear(3), input_shape=(4,), **settings)


def test_the_records_of_a_run():
    records = list(train(Serial(), network(), rows(), validation=rows(7), epochs=2, batch_size=8))
    kinds = [type(record) for record in records]
    assert kinds[:2] == [Place, Start]
    assert Note in kinds
    assert kinds[-1] is Finish
    assert records[-1].reason == "done"
    steps = [record for record in records if isinstance(record, Step)]
    assert [record.step for record in steps] == [1, 2, 3, 4, 5, 6]
    assert [record.samples for record in steps] == [8, 8, 4] * 2
    epochs = [record for record in records if isinstance(record, Epoch)]
    assert [record.epoch for record in epochs] == [1, 2]
    assert set(epochs[0].metrics) == {"loss", "accuracy", "val_loss", "val_accuracy"}


def test_the_epoch_loss_counts_samples_not_batches():
    """Case 73: the small last batch weighs what it has."""
    records = list(train(Serial(), network(), rows(), epochs=1, batch_size=8))
    steps = [record for record in records if isinstance(record, Step)]
    expected = sum(record.loss * record.samples for record in steps) / 20
    told = next(record for record in records if isinstance(record, Epoch)).metrics["loss"]
    assert told == pytest.approx(expected, rel=1e-6)
    assert told != pytest.approx(sum(record.loss for record in steps) / 3, rel=1e-6)


def test_the_first_loss_is_that_of_the_untrained_model():
    """Case 74: full batch, the loss told is the one before the update."""
    model = network(dtype="float64")
    before = evaluate(Serial(), model, rows())
    records = list(train(Serial(), model, rows(), epochs=1, batch_size=20))
    epoch = next(record for record in records if isinstance(record, Epoch))
    assert epoch.metrics == pytest.approx(before, rel=1e-9)


def test_each_step_tells_its_own_batch():
    """Case 75: no running mean."""
    model, data = network(dtype="float64"), rows(8)
    step = next(r for r in train(Serial(), model, data, batch_size=8, optimizer=optim.SGD(0.1)) if isinstance(r, Step))
    fresh = network(dtype="float64")
    assert step.loss == pytest.approx(evaluate(Serial(), fresh, data)["loss"], rel=1e-9)
    records = [r for r in train(Serial(), fresh, data, batch_size=8, epochs=2, optimizer=optim.SGD(0.1)) if isinstance(r, Step)]
    assert records[1].loss == pytest.approx(evaluate(Serial(), model, data)["loss"], rel=1e-9)


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("batch_size", [1, 4, 64])
def test_evaluation_does_not_depend_on_ranks_or_batches(ranks, batch_size):
    """Cases 41, 43, 78; with 7 samples on 5 ranks some share is empty."""
    alone = evaluate(Serial(), network(dtype="float64"), rows(7))
    for result in run_threads(lambda comm: evaluate(comm, network(dtype="float64"), rows(7), batch_size=batch_size), ranks):
        assert result == pytest.approx(alone, rel=1e-12)


def test_preparing_trains_nothing():
    model = network()
    before = model.parameters.value.copy()
    for record in train(Serial(), model, rows(), optimizer=optim.Adam(0.1, weight_decay=0.1)):
        if isinstance(record, Note) and "waiting for all" in record.text:
            break
    np.testing.assert_array_equal(model.parameters.value, before)
    assert not model.parameters.grad.any()


def test_zero_epochs():
    """Case 77."""
    records = list(train(Serial(), network(), rows(), epochs=0))
    assert not any(isinstance(record, Step) for record in records)
    assert records[-1].reason == "done"


def test_a_batch_smaller_than_the_ranks_is_refused():
    """Case 36."""
    with pytest.raises(ValueError, match=r"batch_size=2 is less than one sample for each of 3 ranks.*batch_size=3 or more"):
        run_threads(lambda comm: list(train(comm, network(), rows(), batch_size=2)), 3)


@pytest.mark.parametrize("where", ["at a step", "at the end of an epoch"])
@pytest.mark.parametrize("asking", [0, 2])
def test_a_stop_on_one_rank_stops_all_after_the_same_step(where, asking):
    """Case 45."""

    def job(comm):
        running = train(comm, network(), rows(), epochs=50, batch_size=5)
        command, steps, last = None, 0, None
        while True:
            try:
                last = running.send(command)
            except StopIteration:
                return steps, last.reason, last.text
            command = None
            steps += isinstance(last, Step)
            if comm.rank == asking:
                now = isinstance(last, Step) and last.step == 3 if where == "at a step" else isinstance(last, Epoch)
                command = Stop("enough") if now else None

    results = run_threads(job, 3)
    assert {steps for steps, _, _ in results} == {4}
    assert {reason for _, reason, _ in results} == {"stopped"}
    assert results[asking][2] == "enough"


class Spoiled(Layer):
    """Makes one rank's numbers infinite from the third call on."""

    def __init__(self, here):
        self.here, self.calls = here, 0

    def forward(self, x, step=None):
        if step.training and step.number >= 3 and self.here:
            x = x * np.float32(math.inf)
        return x, lambda dy: dy


def test_a_loss_that_is_not_finite_ends_all_ranks_at_the_same_step_and_names_the_layer():
    def job(comm):
        model = Model(Flatten(), Linear(4), Spoiled(comm.rank == 1), Linear(3), input_shape=(4,))
        steps = 0
        try:
            for record in train(comm, model, rows(), epochs=5, batch_size=5):
                steps += isinstance(record, Step)
        except NotFinite as error:
            return steps, str(error), np.isfinite(model.parameters.value).all()

    for steps, text, weights_are_finite in run_threads(job, 2):
        assert steps == 2
        assert weights_are_finite
        assert "step 3" in text
        assert "spoiled_1" in text
        assert "learning rate" in text


class BadGradient(Layer):
    """A layer whose backward is wrong from step 2 on, though its output is not."""

    def forward(self, x, step=None):
        return x, lambda dy: dy * np.float32(math.nan if step.number == 2 else 1)


def test_a_gradient_that_is_not_finite_is_seen_before_the_update():
    def job(comm):
        model = Model(Linear(4), BadGradient(), Linear(3), input_shape=(4,))
        with pytest.raises(NotFinite, match=r"step 2 .*the gradient of linear_1\.(weight|bias)"):
            list(train(comm, model, rows(), epochs=5, batch_size=5))
        return np.isfinite(model.parameters.value).all()

    assert all(run_threads(job, 2))


def test_large_gradients_are_finite_still():
    """The square of their norm is not."""

    class Large(Layer):
        def forward(self, x, step=None):
            return x, lambda dy: dy * np.float32(1e25)

    model = Model(Linear(4), Large(), Linear(3), input_shape=(4,))
    steps = [r for r in train(Serial(), model, rows(), batch_size=20, optimizer=optim.SGD(1e-30)) if isinstance(r, Step)]
    assert len(steps) == 1


def test_a_listener_that_takes_its_time_is_not_counted():
    slow = []
    for record in train(Serial(), network(), rows(), batch_size=20, epochs=3):
        time.sleep(0.05 if isinstance(record, Ledger) else 0)
        slow += [record.seconds] if isinstance(record, Step) else []
    assert len(slow) == 3
    assert min(slow) < 0.05


def test_running_statistics_of_a_run_that_is_stopped_are_those_of_all_ranks():
    def job(comm):
        model = Model(Linear(4), BatchNorm1d(), Linear(3), input_shape=(4,))
        running, command = train(comm, model, rows(), epochs=5, batch_size=5), None
        try:
            while True:
                record = running.send(command)
                command = Stop() if isinstance(record, Step) and record.step == 2 else None
        except StopIteration:
            return {name: buffer.copy() for name, buffer in model.parameters.buffers.items()}

    first, second = run_threads(job, 2)
    assert first
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


def test_a_preparation_that_is_left_leaves_no_traces():
    model = Model(Linear(4), BatchNorm1d(), Linear(3), input_shape=(4,))
    before = {name: array.copy() for name, array in model.state_dict().items()}
    running = train(Serial(), model, rows())
    for record in running:
        if isinstance(record, Note) and "update" in record.text:
            break
    running.close()
    for name, array in model.state_dict().items():
        np.testing.assert_array_equal(array, before[name])


def test_an_optimizer_of_ones_own_needs_three_methods():
    class Plain:
        def state(self, parameters):
            return {}

        def rate(self, progress):
            return 0.1

        def update(self, parameters, state, progress):
            parameters.value[: parameters.trainable] -= 0.1 * parameters.grad[: parameters.trainable]
            parameters.grad[:] = 0

    own, ours = network(dtype="float64"), network(dtype="float64")
    list(train(Serial(), own, rows(), optimizer=Plain(), epochs=2))
    list(train(Serial(), ours, rows(), optimizer=optim.SGD(0.1), epochs=2))
    np.testing.assert_allclose(own.parameters.value, ours.parameters.value, rtol=1e-12)


def test_what_is_better():
    f1 = [Epoch(n, n, 1, 1.0, 0.1, {"val_f1": value}, 0.0) for n, value in enumerate([0.5, 0.6, 0.55, math.nan], 1)]
    stop = EarlyStopping("val_f1", patience=2)
    assert [stop(record) is None for record in f1] == [True, True, True, False]
