"""What the microscope shows is what the ranks had."""

import numpy as np
import pytest

from dtnn import Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.data import Samples, batches, shares
from dtnn.gradients import GradientView
from dtnn.nn import Linear, Pass, ReLU, Residual, Sequential, cross_entropy
from dtnn.parallel import Accumulate, AllReduce, Compressed, Gossip, LocalSGD, ParameterServer, Sharded
from dtnn.records import Gradients, GradientValues, Ledger, Recorder
from dtnn.training import microscope, train
from dtnn.training.microscope import trained_layers

BATCH = 11  # 4, 4 and 3 samples on three ranks


def rows(count=22):
    rng = np.random.default_rng(0)
    return Samples(rng.standard_normal((count, 4)).astype(np.float32), rng.integers(0, 3, count))


def network(dtype="float64"):
    return Model(Linear(5), ReLU(), Residual(Sequential(Linear(5), ReLU())), Linear(3), input_shape=(4,), dtype=dtype)


def told(ranks=3, model=None, **settings):
    """What rank 0 tells of a training whose weights don't change, with every step looked at."""
    settings = {"batch_size": BATCH, "optimizer": optim.SGD(0.0), "keep_gradients_every": 1, **settings}
    job = lambda comm: Recorder(train(comm, model or network(), rows(), **settings))  # noqa: E731
    return job(Serial()) if ranks == 1 else run_threads(job, ranks)[0]


def gradients_by_hand(ranks, servers=0):
    """Each rank's part of the first step's gradient, by parameter, from a model that knows nothing of ranks."""
    model, data = network(), rows()
    indices = next(batches(len(data), BATCH, 0, 1))
    found = {s.name: np.zeros((ranks, *s.shape)) for s in model.parameters.segments}
    for rank, (first, count) in enumerate(shares(BATCH, ranks - servers), servers):
        if count:
            x, targets = data.gather(indices[first : first + count], np.empty((4, count)), np.float64, (0, 1))
            step = Pass(0)
            step.begin(1, first, count, BATCH, x=x)
            model.parameters.grad[:] = 0
            outputs, backward = model.net.forward(x, step)
            backward(cross_entropy(outputs, targets, BATCH)[1])
            for s in model.parameters.segments:
                found[s.name][rank] = model.parameters.grad[s.start : s.start + s.size].reshape(s.shape)
    return found


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_it_shows_each_ranks_gradient_and_the_sum(ranks):
    view, expected = GradientView.of(told(ranks), 1), gradients_by_hand(ranks)
    assert view.samples == [count for _, count in shares(BATCH, ranks)]
    assert set(view.parameters) == set(expected)
    for name, gradient in expected.items():
        np.testing.assert_allclose(view.before(name), gradient, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(view.reduced(name), gradient.sum(0, keepdims=True), rtol=1e-10, atol=1e-14)
    for place, layer in enumerate(view.layers):
        flat = np.concatenate([expected[f"{layer}.{name}"].reshape(ranks, -1) for name in ("weight", "bias")], axis=1)
        norms = np.linalg.norm(flat, axis=1)
        np.testing.assert_allclose(view.norms[place], norms)
        assert view.total[place] == pytest.approx(np.linalg.norm(flat.sum(0)))
        np.testing.assert_allclose(view.cosines(layer), flat @ flat.T / np.outer(norms, norms))
    assert view.warning == ""


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_number_that_rides_in_the_tail_is_the_squared_norm_of_the_ranks_mean_gradients(ranks):
    view, expected = GradientView.of(told(ranks), 1), gradients_by_hand(ranks)
    counts = np.array(view.samples)
    squares = sum(np.square(gradient.reshape(ranks, -1)).sum(1) for gradient in expected.values())
    assert view.told.local == pytest.approx(float((squares * (BATCH / counts) ** 2).sum()))
    parts = np.array([view.signal_and_noise(layer) for layer in view.layers])
    np.testing.assert_allclose(parts.sum(0), view.signal_and_noise())


@pytest.mark.parametrize("strategy", [AllReduce(), Sharded(), ParameterServer()], ids=repr)
def test_a_large_layer_is_gathered_in_pieces(monkeypatch, strategy):
    monkeypatch.setattr(microscope, "KEPT", 3 * 2 * 8 * 6 * 10)
    whole = told(strategy=strategy)
    monkeypatch.setattr(microscope, "PIECE", 7)
    pieces = told(strategy=strategy)
    for one, other in zip(whole.of(Gradients), pieces.of(Gradients)):
        for name in ("before", "after", "total", "cosines"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name))
        np.testing.assert_allclose(one.off, other.off, atol=1e-15)
    assert [record.parameters for record in whole.of(GradientValues)] == [
        record.parameters for record in pieces.of(GradientValues)
    ]
    view, expected = GradientView.of(pieces, 1), gradients_by_hand(3, servers=int(isinstance(strategy, ParameterServer)))
    np.testing.assert_allclose(view.before("linear_1.bias"), expected["linear_1.bias"])


def test_of_large_parameters_not_all_numbers_are_told(monkeypatch):
    monkeypatch.setattr(microscope, "KEPT", 3 * 2 * 8 * 6 * 10)  # 10 numbers of each of 6 parameters
    view, expected = GradientView.of(told(), 1), gradients_by_hand(3)
    assert view.left_out.startswith("linear_1.weight: one number in 2; ")
    np.testing.assert_allclose(view.before("linear_1.weight"), expected["linear_1.weight"].reshape(3, -1)[:, ::2], rtol=1e-12)
    assert view.before("linear_1.bias").shape == (3, 5)
    assert view.norms[0, 0] == pytest.approx(
        np.sqrt(sum(np.square(expected[f"linear_1.{name}"][0]).sum() for name in ("weight", "bias")))
    )


SUMMING = [AllReduce(), AllReduce("ring", bucket_bytes=64), AllReduce(overlap=True, bucket_bytes=64), Accumulate(2), Sharded()]


@pytest.mark.parametrize("strategy", SUMMING, ids=lambda strategy: repr(strategy)[:60])
def test_with_strategies_that_sum_the_ranks_go_on_with_the_sum(strategy):
    view, expected = GradientView.of(told(strategy=strategy), 1), gradients_by_hand(3)
    for name, gradient in expected.items():
        np.testing.assert_allclose(view.before(name), gradient, rtol=1e-10, atol=1e-15)
        np.testing.assert_allclose(view.reduced(name), gradient.sum(0, keepdims=True), rtol=1e-10, atol=1e-14)
    assert view.warning == ""


def test_a_server_has_no_gradient_of_its_own_and_its_sum_counts():
    view, expected = GradientView.of(told(strategy=ParameterServer()), 1), gradients_by_hand(3, servers=1)
    assert view.samples == [0, 6, 5]
    for name, gradient in expected.items():
        np.testing.assert_allclose(view.before(name), gradient, rtol=1e-10, atol=1e-15)
        assert view.reduced(name).shape[0] == 1
    assert view.warning == ""
    flat = np.concatenate([gradient.reshape(3, -1) for gradient in expected.values()], axis=1)
    own, mean = flat[1:] * BATCH / np.array([[6], [5]]), flat.sum(0)  # of each worker's samples, and of all
    noise = (np.square(own).sum() / 2 - mean @ mean) / ((1 / 6 + 1 / 5) / 2 - 1 / BATCH)
    assert view.signal_and_noise() == pytest.approx((mean @ mean - noise / BATCH, noise))


@pytest.mark.parametrize("strategy", [LocalSGD(2), Gossip(), Compressed("sign")], ids=repr)
def test_ranks_that_go_on_with_something_else_say_so(strategy):
    view, expected = GradientView.of(told(strategy=strategy), 1), gradients_by_hand(3)
    np.testing.assert_allclose(view.before("linear_1.weight"), expected["linear_1.weight"], rtol=1e-10, atol=1e-15)
    assert "went on with something else than the sum" in view.warning


def test_ranks_at_different_steps_have_no_gradients_of_one():
    with pytest.raises(ValueError, match=r"keep_gradients_every=1: with ParameterServer\(.*keep_gradients_every=0"):
        told(strategy=ParameterServer(None))


def test_looking_changes_no_weight_and_is_no_time_of_the_steps():
    def job(comm, every):
        model = network("float32")
        records = list(train(comm, model, rows(), batch_size=BATCH, epochs=3, keep_gradients_every=every))
        return model.parameters.value.copy(), [record for record in records if isinstance(record, Ledger)]

    looked, plain = run_threads(job, 3, 1), run_threads(job, 3, 0)
    for (value, ledgers), (other, _) in zip(looked, plain):
        np.testing.assert_array_equal(value, other)
        phases = ("data", "forward", "backward", "wait", "transfer", "update", "pack")
        assert all(sum(getattr(ledger, phase) for phase in phases) <= ledger.seconds for ledger in ledgers)


def test_every_nth_step_is_kept_and_frozen_layers_are_not_shown():
    model = network()
    model.layers[0].trainable = False
    model.refresh()
    records = told(model=model, ranks=1, keep_gradients_every=3, epochs=5)
    assert [record.step for record in records.of(Gradients)] == [3, 6, 9]
    assert [record.step for record in records.of(GradientValues)] == [3, 6, 9]
    assert records.of(Gradients)[0].layers == ["residual_1.body.linear_2", "linear_3"]
    assert list(trained_layers(model.parameters)) == ["residual_1.body.linear_2", "linear_3"]
