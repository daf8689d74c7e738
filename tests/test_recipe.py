"""What a batch job would make is what the run had: never something else of the same name."""

import dataclasses

import numpy as np
import pytest

import dtnn
from dtnn import optim, parallel, training
from dtnn.fitting import Fitting
from dtnn.nn import losses
from dtnn.optim.schedules import schedule
from dtnn.recipe import MODULES, alike
from dtnn.spelled import made


def cross_entropy(outputs, targets, weight):
    return losses.cross_entropy(outputs, targets, 2 * weight)


@dataclasses.dataclass(frozen=True)
class AllReduce:
    overlap: bool = False

    def begin(self, *parts):
        raise ZeroDivisionError


@schedule
def cosine(progress, lr):
    return lr / 2


def evaluate(record):
    pass


def recipe(**settings):
    x = np.zeros((20, 28, 28, 1), np.uint8)
    return Fitting(dtnn.zoo.mlp(), x, np.arange(20) % 10, **settings).recipe


@pytest.mark.parametrize(
    ("settings", "topic"),
    [
        ({"loss": cross_entropy}, "loss"),
        ({"strategy": AllReduce()}, "strategy"),
        ({"strategy": parallel.Accumulate(2, AllReduce())}, "strategy"),
        ({"optimizer": optim.SGD(cosine(0.1))}, "optimizer"),
        ({"optimizer": optim.SGD(optim.warm_up(cosine(0.1), 2))}, "optimizer"),
        ({"callbacks": [evaluate]}, "callback"),
    ],
)
def test_ones_own_things_are_not_taken_for_those_of_the_same_name(settings, topic):
    assert [name for name, _ in recipe(**settings)["problems"]] == ["data", topic]


@pytest.mark.parametrize(
    ("kind", "thing"),
    [
        ("optimizer", optim.LARS(optim.legw(optim.poly(0.0625, 2), 64, 0.1), trust=0.05)),
        ("optimizer", optim.Adam(optim.scaled(0.01, 4, "sqrt"), clip_norm=1.0)),
        ("strategy", parallel.Accumulate(4, parallel.AllReduce("ring", bucket_bytes=1000))),
        ("loss", losses.cross_entropy),
        ("callback", training.EarlyStopping("val_loss", patience=2)),
    ],
)
def test_dtnns_things_are_made_again(kind, thing):
    name = "callbacks" if kind == "callback" else kind
    told = recipe(**{name: [thing] if kind == "callback" else thing})
    assert [topic for topic, _ in told["problems"]] == ["data"]
    text = told["options"][told["options"].index(f"--{kind}") + 1]
    assert alike(made(text, MODULES[kind], kind), thing)
