"""In float32 P ranks differ from one by no more than ten times what another order of summation makes of one rank alone."""

import dataclasses
from functools import cache, partial

import numpy as np
import pytest

from dtnn import Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.data import Samples
from dtnn.nn import (
    GELU,
    AvgPool2d,
    BatchNorm2d,
    Conv2d,
    Flatten,
    GlobalAvgPool2d,
    Linear,
    MaxPool2d,
    ReLU,
    Residual,
    Sequential,
    Tanh,
)
from dtnn.parallel import AllReduce
from dtnn.records import Step
from dtnn.training import train
from tests.comm.mpi_job import run_mpi

TIMES = 10
ORDERS = 5  # other orders of the samples of each batch
BATCH, ROWS = 16, 160  # 10 steps an epoch


class Shuffled(Samples):
    """Each batch has the same samples, in another order: sums over them are the same but for rounding."""

    dice = None

    def gather(self, indices, *args, **kwargs):
        return super().gather(self.dice.permutation(indices) if self.dice else indices, *args, **kwargs)


def rows(order=None):
    rng = np.random.default_rng(3)
    found = Shuffled(rng.standard_normal((ROWS, 8, 6, 2)).astype(np.float32), rng.integers(0, 5, ROWS))
    found.dice = None if order is None else np.random.default_rng(order)
    return found


def plain():
    return Conv2d(4, 3, padding=1), ReLU(), MaxPool2d(2), Flatten(), Linear(12), ReLU(), Linear(5)


def smooth():
    """Nothing that a last bit can switch: in a deep net, or after many steps, a ReLU or a maximum would be found that it does."""
    return Conv2d(4, 3, padding=1), Tanh(), AvgPool2d(2), Flatten(), Linear(12), Tanh(), Linear(5)


def block():
    """No bias before normalisation: its gradient is rounding alone, of which Adam makes whole steps."""
    conv = partial(Conv2d, 6, 3, padding=1, bias=False)
    body = conv(), BatchNorm2d(sync=True), GELU(), conv(), BatchNorm2d(sync=True)
    return Residual(Sequential(*body))


def deep():
    return Conv2d(6, 3, padding=1), *(layer for _ in range(9) for layer in (block(), GELU())), GlobalAvgPool2d(), Linear(5)


CASES = {
    "sgd": (plain, optim.SGD(0.05, momentum=0.9), 1),
    "adam": (plain, optim.Adam(0.01), 1),
    "rmsprop": (plain, optim.RMSProp(0.003, centered=True), 1),
    "adamw": (plain, optim.AdamW(0.01, clip_norm=1.0), 1),
    "nadam": (plain, optim.Nadam(0.01), 1),
    "adagrad": (plain, optim.Adagrad(0.05), 1),
    "lamb": (plain, optim.LAMB(0.01), 1),
    "lars": (plain, optim.LARS(2.0), 1),
    "300 steps of sgd": (smooth, optim.SGD(0.05, momentum=0.9), 30),
    "deep and normalised": (deep, optim.SGD(0.05, momentum=0.9), 1),
    "deep and normalised, adam": (deep, optim.Adam(0.003), 1),
}


def trained(comm, layers, optimizer, epochs, order=None, **settings):
    """The weights before and after, and the number of steps."""
    model = Model(*layers(), input_shape=(8, 6, 2))
    start = model.parameters.value.copy()
    records = train(comm, model, rows(order), optimizer=optimizer, epochs=epochs, batch_size=BATCH, metrics=(), **settings)
    steps = sum(isinstance(record, Step) for record in records)
    return start.astype(float), model.parameters.value.astype(float), steps


@cache
def alone(case):
    """How far one rank gets, its weights, and how far from these other orders lead it."""
    start, weights, steps = trained(Serial(), *CASES[case])
    assert steps == 10 * CASES[case][2]
    moved = np.linalg.norm(weights - start)
    others = [trained(Serial(), *CASES[case], order)[1] for order in range(ORDERS)]
    return moved, weights, [np.linalg.norm(other - weights) / moved for other in others]


def test_every_optimizer_is_here():
    assert {type(optimizer).__name__ for _, optimizer, _ in CASES.values()} == set(optim.__all__)


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("case", CASES)
def test_ranks_are_as_close_to_one_as_its_own_rounding(case, ranks):
    moved, one, distances = alone(case)
    assert moved > 1e-2
    assert min(distances) > 0, "the order of summation makes no difference, so there is nothing to compare with"
    assert np.median(distances) < 0.05, "rounding has grown into another training: this compares nothing"
    for strategy in (AllReduce(), AllReduce("ring")):
        for _, weights, _ in run_threads(partial(trained, strategy=strategy), ranks, *CASES[case]):
            assert np.linalg.norm(weights - one) / moved <= TIMES * np.median(distances)


@pytest.mark.limit(120)
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 4])
def test_over_mpi_too(ranks):
    for found in run_mpi(__file__, "train_some", ranks, seconds=110):
        for case, weights in found.items():
            moved, one, distances = alone(case)
            assert np.linalg.norm(weights - one) / moved <= TIMES * np.median(distances), case


def train_some(pool):
    comm = pool.checkout()
    return {case: trained(comm, *CASES[case])[1] for case in ("adam", "lars", "deep and normalised")}


@pytest.mark.parametrize("case", ["sgd", "adam", "lamb"])
def test_the_comparison_sees_what_is_more_than_rounding(case):
    """A rate that is off by a thousandth."""
    layers, optimizer, epochs = CASES[case]
    moved, one, distances = alone(case)
    _, other, _ = trained(Serial(), layers, dataclasses.replace(optimizer, lr=optimizer.lr * 1.001), epochs)
    assert np.linalg.norm(other - one) / moved > TIMES * np.median(distances)
