"""The gradient noise that steps tell is that of the samples; nothing is gathered for it, and nothing more is sent."""

import math
from functools import partial

import numpy as np
import pytest

from dtnn import Cluster, Model
from dtnn.comm import Serial, run_threads
from dtnn.gradients import noise_scale
from dtnn.nn import Linear, ReLU, mse
from dtnn.optim import SGD
from dtnn.parallel import Accumulate, AllReduce, Compressed, Gossip, LocalSGD, ParameterServer, Sharded
from dtnn.records import Gradients, GradientValues, Step
from dtnn.training import noise, train
from tests.comm.mpi_job import run_mpi
from tests.training.known_noise import BATCH, FEATURES, OUTPUTS, network, rows, true_noise_and_scale

STILL = SGD(0.0)  # all steps look at the same weights, so that there is one true noise scale


def trained(comm, model=None, data=None, **settings):
    settings = {"loss": mse, "metrics": (), "optimizer": STILL, "batch_size": BATCH, "epochs": 4} | settings
    return list(train(comm, model or network(), data or rows(), **settings))


def steps(records):
    return [record for record in records if isinstance(record, Step)]


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_an_ordinary_run_has_the_noise_scale_of_its_samples(ranks):
    records = run_threads(trained, ranks)[0]
    assert not [record for record in records if isinstance(record, Gradients | GradientValues)], "nothing was gathered"
    told = [step for step in steps(records) if not math.isnan(step.noise)]
    assert [step.step for step in told] == list(range(8, 801, 8))
    variance, scale = true_noise_and_scale()
    assert scale > 5
    assert np.mean([step.noise for step in told]) == pytest.approx(variance, rel=0.2)
    assert noise_scale(records) == pytest.approx(scale, rel=0.3)


def test_more_of_it_is_told_of_noisier_samples():
    """Ten times the noise in the targets."""
    data = rows()
    noisier = data.replaced(y=data.y + 10 * np.random.default_rng(2).standard_normal(data.y.shape).astype(np.float32))
    plain, noisy = (noise_scale(run_threads(trained, 2, None, given)[0]) for given in (data, noisier))
    assert noisy > 5 * plain


def test_all_ranks_tell_the_same():
    told = [[step.noise for step in steps(records)] for records in run_threads(trained, 3)]
    np.testing.assert_array_equal(told[0], told[1])
    np.testing.assert_array_equal(told[0], told[2])


EARLY = AllReduce(overlap=True, bucket_bytes=64)


@pytest.mark.parametrize("strategy", [AllReduce("ring"), AllReduce(overlap=True), EARLY, Accumulate(3), Accumulate(2, EARLY)])
def test_other_ways_to_sum_tell_the_same_number(strategy):
    """Whatever has gone already when backward ends."""

    def told(comm, strategy):
        model = Model(Linear(9), ReLU(), Linear(7), ReLU(), Linear(OUTPUTS), input_shape=(FEATURES,), dtype="float64")
        return [step.noise for step in steps(trained(comm, model, strategy=strategy, epochs=1, batch_size=25))]

    expected, found = run_threads(told, 3, AllReduce())[0], run_threads(told, 3, strategy)[0]
    assert np.isfinite(expected).sum() == 10
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_it_is_the_estimate_of_the_gradients_that_were_gathered():
    """By the norms of the gradients that rank 0 gathered, in the same step."""
    records = run_threads(partial(trained, model=None, keep_gradients_every=12, epochs=1), 3)[0]
    kept = {record.step: record for record in records if isinstance(record, Gradients)}
    told = {step.step: step for step in steps(records)}
    assert {step for step, record in told.items() if not math.isnan(record.noise)} == {
        step for step in range(1, 201) if step % 8 == 0 or step % 12 == 0
    }
    for number, record in kept.items():
        alone = [told[number]]
        assert noise_scale([record]) == pytest.approx(noise_scale(alone), rel=1e-3, nan_ok=True)
        assert noise_scale([record, *alone]) == noise_scale(alone) or math.isnan(noise_scale(alone)), "a step counts once"


def test_shares_of_different_size_weigh_as_they_should():
    """10 samples on 4 ranks: 3, 3, 2 and 2; and batches in which a rank has none."""
    variance, _ = true_noise_and_scale()
    for batch, ranks in ((10, 4), (5, 3)):
        records = run_threads(partial(trained, batch_size=batch, epochs=4), ranks)[0]
        assert np.nanmean([step.noise for step in steps(records)]) == pytest.approx(variance, rel=0.2)


def test_nothing_more_is_sent(monkeypatch):
    def handed(comm):
        trained(comm, epochs=1)
        return comm.bytes

    told = run_threads(handed, 2)
    monkeypatch.setattr(noise, "EVERY", 10**9)
    assert told == run_threads(handed, 2)


@pytest.mark.parametrize(
    "strategy", [Sharded(), LocalSGD(3), Gossip(), Compressed("int8"), ParameterServer(), ParameterServer(None)], ids=repr
)
def test_where_no_rank_holds_the_whole_gradient_it_is_not_told(strategy):
    records = run_threads(partial(trained, strategy=strategy, epochs=1, optimizer=SGD(0.001)), 3)[0]
    assert np.isnan([step.noise for step in steps(records)]).all()
    assert math.isnan(noise_scale(records))


def test_one_rank_has_none():
    records = trained(Serial(), epochs=1)
    assert np.isnan([step.noise for step in steps(records)]).all()
    assert math.isnan(noise_scale(records))


def test_the_weights_are_those_of_a_run_that_tells_nothing(monkeypatch):
    def weights(comm):
        model = network()
        trained(comm, model, optimizer=SGD(0.01, momentum=0.9), epochs=1)
        return model.parameters.value.copy()

    told = run_threads(weights, 3)
    monkeypatch.setattr(noise, "EVERY", 10**9)
    np.testing.assert_array_equal(told, run_threads(weights, 3))


def test_of_a_run_that_is_looked_at_phase_by_phase():
    found = [
        [step.noise for step in steps(run_threads(partial(trained, phases=phases, epochs=1), 2)[0])] for phases in (False, True)
    ]
    np.testing.assert_allclose(*found)


def test_the_strategy_of_ones_own_that_begins_early_is_left_alone():
    """Of what it has sent already nobody knows what it was."""

    class Early:
        def begin(self, comm, parameters, optimizer):
            exchange = AllReduce().begin(comm, parameters, optimizer)
            exchange.watcher = Watcher
            return exchange

    class Watcher:
        def forward(self, layer):
            pass

        backward = forward

    records = run_threads(partial(trained, strategy=Early(), epochs=1), 2)[0]
    assert np.isnan([step.noise for step in steps(records)]).all()


def test_over_mpi_and_from_a_cluster():
    _, scale = true_noise_and_scale()
    for found in run_mpi(__file__, "over_mpi", 2):
        assert found == pytest.approx(scale, rel=0.3)
    with Cluster(2, "threads", on_wait=False) as cluster:
        data = rows()
        settings = dict(loss=mse, optimizer=STILL, batch_size=BATCH, epochs=4, show=False)
        history = network().fit(data.x, data.y, cluster=cluster, **settings)
    assert noise_scale(history.records) == pytest.approx(scale, rel=0.3)


def over_mpi(pool):
    return noise_scale(trained(pool.checkout()))
