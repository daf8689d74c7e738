"""P ranks with global batch B give the weights of one rank with batch B: the central promise."""

from functools import partial

import numpy as np
import pytest

from dtnn import Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.data import Flip, Samples, Shift
from dtnn.nn import Conv2d, Dropout, Flatten, Linear, MaxPool2d, ReLU
from dtnn.records import Ledger, Note, Step
from dtnn.training import train

ROWS = 50


def digits(count=ROWS):
    rng = np.random.default_rng(3)
    return Samples(rng.standard_normal((count, 8, 6, 1)).astype(np.float32), rng.integers(0, 10, count))


def network(dtype="float64", seed=0):
    return Model(
        Conv2d(3, 3, padding=1), ReLU(), MaxPool2d(2), Flatten(), Dropout(0.3), Linear(12), ReLU(), Linear(10),
        input_shape=(8, 6, 1), dtype=dtype, seed=seed,
    )  # fmt: skip


def trained(comm, dtype="float64", rows=None, **settings):
    model = network(dtype, seed=comm.rank)  # rank 0's weights must win (case 39)
    settings = {"batch_size": 16, "epochs": 3, "optimizer": optim.SGD(0.05, momentum=0.9)} | settings
    records = list(train(comm, model, rows or digits(), **settings))
    return model.parameters.value.copy(), records, getattr(comm, "bytes", 0)


def distance(weights, alone, start):
    return np.linalg.norm(weights - alone) / np.linalg.norm(alone - start)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("optimizer", [optim.SGD(0.05, momentum=0.9, nesterov=True), optim.Adam(0.01)], ids=["sgd", "adam"])
def test_the_weights_are_those_of_one_rank(ranks, optimizer):
    # 50 samples in batches of 16: the last batch has 2, so that on 3 and 4 ranks some share is empty
    start = network().parameters.value
    alone, records, _ = trained(Serial(), optimizer=optimizer)
    together = run_threads(partial(trained, optimizer=optimizer), ranks)
    for weights, told, handed in together:
        assert distance(weights, alone, start) < 1e-10
        assert ranks == 1 or handed > 0
        losses = [[r.loss for r in kept if isinstance(r, Step)] for kept in (records, told)]
        np.testing.assert_allclose(*losses, rtol=1e-9)
    assert len({weights.tobytes() for weights, _, _ in together}) == 1, "replicas differ"


def test_augmentation_does_not_depend_on_the_ranks():
    augmented = partial(trained, rows=digits().replaced(augment=(Flip(), Shift(1))))
    alone, plain = augmented(Serial())[0], trained(Serial())[0]
    start = network().parameters.value
    assert distance(plain, alone, start) > 1e-3
    for weights, _, _ in run_threads(augmented, 3):
        assert distance(weights, alone, start) < 1e-10


def test_in_float32_the_distance_is_rounding():
    start = network("float32").parameters.value
    settings = dict(dtype="float32", epochs=2, batch_size=10)
    alone, _, _ = trained(Serial(), **settings)
    for ranks in (2, 4):
        for weights, _, _ in run_threads(partial(trained, **settings), ranks):
            assert distance(weights, alone, start) < 1e-5


def test_other_seeds_or_batches_give_other_weights():
    """The comparison above can fail: it sees a difference where there is one."""
    start = network().parameters.value
    alone, _, _ = trained(Serial())
    for settings in ({"seed": 1}, {"batch_size": 17}, {"optimizer": optim.SGD(0.05)}):
        other, _, _ = trained(Serial(), **settings)
        assert distance(other, alone, start) > 1e-3


def used_in_two_epochs(comm):
    """Which samples this rank used for its steps, and how many steps it made."""
    used, steps = [], 0

    class Noting(Samples):
        def gather(self, indices, *args, **kwargs):
            used.extend(indices.tolist())
            return super().gather(indices, *args, **kwargs)

    rows = digits()
    for record in train(comm, network(), Noting(rows.x, rows.y), batch_size=12, epochs=2):
        if isinstance(record, Note):
            used.clear()  # what was only used to prepare
        steps += isinstance(record, Step)
    return used, steps


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_sample_is_used_once_an_epoch(ranks):
    """Cases 32, 34, 37: shares are disjoint and complete, orders differ from epoch to epoch, all ranks make the same steps."""

    results = run_threads(used_in_two_epochs, ranks)
    assert {steps for _, steps in results} == {10}
    used = [index for indices, _ in results for index in indices]
    assert sorted(used) == sorted(list(range(ROWS)) * 2)


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_ledger_adds_up(ranks):
    kept = [records for _, records, _ in run_threads(partial(trained, epochs=4), ranks)]
    for records in kept:
        ledgers = [record for record in records if isinstance(record, Ledger)]
        assert sum(record.steps for record in ledgers) == sum(isinstance(record, Step) for record in records)
        parts = sum(r.data + r.forward + r.backward + r.wait + r.transfer + r.update for r in ledgers)
        assert 0.9 < parts / sum(record.seconds for record in ledgers) <= 1
    assert sum(r.samples for records in kept for r in records if isinstance(r, Ledger)) == 4 * ROWS
    assert (sum(r.bytes for r in kept[0] if isinstance(r, Ledger)) > 0) == (ranks > 1)
