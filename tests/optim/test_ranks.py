"""Every optimizer, with a schedule and with clipping, gives on P ranks the weights of one rank."""

from functools import partial

import numpy as np
import pytest

from dtnn import Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.data import Samples
from dtnn.nn import Linear, ReLU
from dtnn.records import Step
from dtnn.training import train

ALL = [
    optim.SGD(optim.warm_up(optim.cosine(0.1), epochs=1), momentum=0.9, weight_decay=0.1),
    optim.SGD(0.1, clip_norm=0.5),
    optim.Adam(0.01, clip_norm=0.5),
    optim.AdamW(optim.one_cycle(0.01)),
    optim.Nadam(0.01),
    optim.RMSProp(0.01, centered=True, momentum=0.5),
    optim.Adagrad(0.05),
    optim.LARS(5.0, weight_decay=0.1),
    optim.LARS(optim.legw(optim.poly(0.6, 2), 64, epochs=1 / 64), clip_norm=0.5),
    optim.LAMB(optim.legw(0.01, 4), clip_norm=0.5),
    optim.LAMB(0.01, weight_decay=0.1),
]


def trained(comm, optimizer, dtype):
    rng = np.random.default_rng(0)
    rows = Samples(rng.normal(size=(37, 6)).astype(np.float32), rng.integers(0, 4, 37))
    model = Model(Linear(9), ReLU(), Linear(4), input_shape=(6,), dtype=dtype)
    start = model.parameters.value.copy()
    records = list(train(comm, model, rows, optimizer=optimizer, epochs=3, batch_size=11))
    return start, model.parameters.value.copy(), [record.lr for record in records if isinstance(record, Step)]


@pytest.mark.parametrize("optimizer", ALL, ids=repr)
@pytest.mark.parametrize(("dtype", "bound"), [("float64", 1e-10), ("float32", 1e-3)])
def test_ranks_together_are_one_rank(optimizer, dtype, bound):
    start, alone, rates = trained(Serial(), optimizer, dtype)
    moved = np.linalg.norm(alone - start)
    assert moved > 1e-2
    assert np.isfinite(moved)
    for _, weights, told in run_threads(partial(trained, optimizer=optimizer, dtype=dtype), 3):
        assert np.linalg.norm(weights - alone) <= bound * moved
        assert weights.dtype == dtype
        assert told == rates
