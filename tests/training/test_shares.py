"""What each rank tells of its own share: metrics of an epoch, memory; and the norm of the whole gradient of each step."""

import math

import numpy as np
import pytest

import dtnn
from dtnn.data import Samples
from dtnn.parallel import AllReduce, LocalSGD, ParameterServer
from dtnn.records import Epoch, Ledger, Share, Step

RNG = np.random.default_rng(5)
ROWS = Samples(RNG.standard_normal((90, 6)).astype(np.float32), np.arange(90) % 3)
TESTS = Samples(RNG.standard_normal((31, 6)).astype(np.float32), np.arange(31) % 3)


def told(ranks, strategy=AllReduce(), epochs=2, rows=ROWS, tests=TESTS, batch_size=20, **settings):
    def job(comm):
        model = dtnn.Model(dtnn.nn.Linear(8), dtnn.nn.ReLU(), dtnn.nn.Linear(3), input_shape=(6,))
        how = dict(validation=tests, epochs=epochs, batch_size=batch_size, strategy=strategy, **settings)
        return list(dtnn.training.train(comm, model, rows, **how))

    return [dtnn.records.Recorder(records) for records in dtnn.comm.run_threads(job, ranks)]


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_shares_together_are_the_epoch(ranks):
    """Means weighted by samples; of the validation samples each rank has its part of every batch of 64 a rank."""
    everyone = told(ranks)
    for epoch in (1, 2):
        whole = next(e for e in everyone[0].of(Epoch) if e.epoch == epoch)
        parts = [next(s for s in records.of(Share) if s.epoch == epoch) for records in everyone]
        assert [part.rank for part in parts] == list(range(ranks))
        assert sum(part.samples for part in parts) == 90
        assert all(part.step == whole.step for part in parts)
        validated = [count for _, count in dtnn.data.shares(31, ranks)]
        for name, counts in (
            ("loss", [part.samples for part in parts]),
            ("accuracy", [part.samples for part in parts]),
            ("val_loss", validated),
            ("val_accuracy", validated),
        ):
            mean = sum(part.metrics[name] * count for part, count in zip(parts, counts)) / sum(counts)
            assert mean == pytest.approx(whole.metrics[name], rel=1e-5), name
        assert len({part.metrics["loss"] for part in parts}) == ranks, "each tells its own"


def test_one_rank_alone_has_no_share():
    (records,) = told(1)
    assert records.of(Share) == []


def test_without_validation_there_is_nothing_of_it():
    assert set(told(2, tests=None)[1].of(Share)[0].metrics) == {"loss", "accuracy"}


def test_a_rank_without_samples_says_nan_and_a_server_too():
    few = Samples(ROWS.x[:2], ROWS.y[:2])
    everyone = told(3, rows=few, tests=few, batch_size=3, epochs=1)
    last = everyone[2].of(Share)[0]
    assert last.samples == 0
    assert all(math.isnan(value) for value in last.metrics.values())
    server = told(3, ParameterServer(), epochs=1)[0].of(Share)[0]
    assert math.isnan(server.metrics["loss"])
    assert math.isfinite(server.metrics["val_loss"]), "it evaluates with the others"


def test_each_ledger_has_the_memory_of_its_process():
    for records in told(2):
        ledgers = records.of(Ledger)
        assert ledgers
        assert all(10**7 < ledger.memory < 10**11 for ledger in ledgers)


def test_each_step_has_the_norm_of_the_whole_gradient():
    """The mean over the global batch: of any number of ranks the same, and as a look at all ranks' gradients finds it."""
    alone, together = told(1), told(3, keep_gradients_every=1)
    one, three = (records[0].column(Step, "gradient") for records in (alone, together))
    assert all(value > 0 for value in one)
    np.testing.assert_allclose(one[:3], three[:3], rtol=1e-5)
    looked = [math.hypot(*record.total) for record in together[0].of(dtnn.records.Gradients)]
    np.testing.assert_allclose(three, looked, rtol=1e-5)
    assert len({tuple(records.column(Step, "gradient")) for records in together}) == 1, "the same bits on all ranks"


def test_where_no_rank_holds_the_whole_gradient_its_norm_is_nan():
    records = told(2, LocalSGD(4), epochs=1)[0]
    assert all(math.isnan(value) for value in records.column(Step, "gradient"))
