"""`serial_equivalent` tells apart what changes weights, what feeds the network, and what the optimizer does with the sum."""

import threading

import numpy as np
import pytest

from dtnn import optim
from dtnn.check import serial_equivalent
from dtnn.data import Flip
from dtnn.nn import BatchNorm1d, Dropout
from dtnn.optim import SGD
from dtnn.parallel import AllReduce, Gossip, LocalSGD, ParameterServer, Sharded
from dtnn.parallel.allreduce import Together
from tests.test_check import digits, network

RANKS = pytest.mark.parametrize("ranks", [2, 3, 4])


def found(model=None, rows=None, ranks=3, **settings):
    return serial_equivalent(model or network(), rows or digits(), ranks, **settings)


# ---- what changes weights besides the optimizer


def adding(here, amount=1e-3):
    """A `mix` that writes into the weights of one rank, or of all (None), after every update."""
    right = Together.mix

    def mix(self, progress):
        if here in (None, self.comm.rank) and self.comm.size > 1:
            self.parameters.value[0] += amount
        return right(self, progress)

    return mix


@RANKS
@pytest.mark.parametrize(
    ("here", "words"),
    [
        (1, "with a rate of 0 conv2d_1.weight changes on rank 1: "),
        (None, "with a rate of 0 conv2d_1.weight changes on all ranks: "),
    ],
)
def test_weights_that_change_after_the_update(monkeypatch, here, words, ranks):
    assert found(ranks=ranks)
    monkeypatch.setattr(Together, "mix", adding(here))
    said = found(ranks=ranks)
    assert not said
    assert said.broken == "drift", str(said)
    assert words in str(said)
    assert "samples" not in said.text
    assert "mix" in said.text


def test_weights_that_change_by_one_bit(monkeypatch):
    monkeypatch.setattr(Together, "mix", adding(1, amount=1e-15))
    said = found()
    assert said.broken == "drift"
    assert "first in conv2d_1.weight" in said.text


def test_weights_that_change_after_the_second_step(monkeypatch):
    right = Together.mix

    def mix(self, progress):
        if self.comm.rank == 1 and progress.step == 2:
            self.parameters.value[0] += 1e-3
        return right(self, progress)

    monkeypatch.setattr(Together, "mix", mix)
    said = found()
    assert said.broken == "later steps"
    assert "the replicas differ, first in conv2d_1.weight" in said.text


@pytest.mark.parametrize("strategy", [LocalSGD(2), Gossip("ring"), Sharded(), ParameterServer()], ids=repr)
def test_averages_of_weights_are_no_drift(strategy):
    assert found(strategy=strategy, ranks=3).broken in ("", "later steps")


# ---- what feeds the network


class OfAGlobalGenerator:
    """An augmentation that draws from a generator of its own."""

    def __init__(self):
        self.dice = np.random.default_rng(0)

    def __call__(self, images, draw):
        return images + self.dice.standard_normal(images.shape).astype(images.dtype)


def this_rank():
    """Of the thread that asks; 0 where it is none of several ranks."""
    word, _, number = threading.current_thread().name.partition(" ")
    return int(number) if word == "rank" else 0


def of_the_rank(images, draw):
    return images * (1 + this_rank())


def of_the_place_in_the_share(images, draw):
    return images + np.arange(len(images), dtype=images.dtype)[:, None, None, None]


@RANKS
@pytest.mark.parametrize(
    ("change", "name"),
    [
        (OfAGlobalGenerator(), "OfAGlobalGenerator"),
        (of_the_rank, "of_the_rank"),
        (of_the_place_in_the_share, "of_the_place_in_the_share"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_augmentation_that_is_not_keyed_by_the_sample(change, name, ranks):
    said = found(network(Dropout(0.3), BatchNorm1d(sync=True)), digits(augment=(Flip(), change)), ranks)
    assert not said
    assert said.broken == "inputs", str(said)
    assert "what sample" in said.text
    assert f"the augmentation {name}" in said.text.replace("<tests.check.test_named_causes.", "").replace(" object", "")
    assert "draw(k)" in said.text


def test_one_that_draws_as_it_should_is_right():
    def noise(images, draw):
        return images + draw(images[0].size).reshape(images.shape).astype(images.dtype)

    assert found(rows=digits(augment=(noise, Flip())))


# ---- what is done with the sum


@RANKS
def test_a_rank_that_goes_further_with_the_right_sum(monkeypatch, ranks):
    right = Together.update

    def update(self, progress):
        if self.comm.rank == 1:
            self.trained[1][:] *= 1.5
        right(self, progress)

    monkeypatch.setattr(Together, "update", update)
    said = found(ranks=ranks)
    assert said.broken == "sum"
    assert "on rank 1 a step is 1.5 times as long as it should be" in said.text


@RANKS
def test_gradients_that_are_clipped_before_they_are_summed(monkeypatch, ranks):
    right = Together.combine

    def combine(self, tail, count, total, progress):
        norm, most = np.linalg.norm(self.trained[1]), self.optimizer.clip_norm
        if most and norm > most:
            self.trained[1][:] *= most / norm
        return right(self, tail, count, total, progress)

    assert found(ranks=ranks, optimizer=SGD(0.05, clip_norm=0.01))
    monkeypatch.setattr(Together, "combine", combine)
    assert found(ranks=ranks)
    said = found(ranks=ranks, optimizer=SGD(0.05, clip_norm=0.01))
    assert said.broken == "update", str(said)
    assert "clipped" in said.text
    assert "clip_norm=0.01" in said.text


@RANKS
def test_an_optimizer_that_does_something_else_on_each_rank(ranks):
    class Noisy(optim.Adam):
        def update(self, parameters, state, progress):
            parameters.grad[: parameters.trainable] *= 1 + this_rank()
            optim.Adam.update(self, parameters, state, progress)

    assert found(ranks=ranks, optimizer=optim.Adam(0.01, eps=0.01))
    said = found(ranks=ranks, optimizer=Noisy(0.01, eps=0.01))
    assert said.broken == "update", str(said)
    assert "Noisy" in said.text


def test_an_optimizer_that_is_not_for_this_strategy():
    said = found(strategy=LocalSGD(1), optimizer=optim.Adam(0.01))
    assert said.broken == "update"


def test_a_function_that_leaves_one_rank_out():
    def forgetful(comm, array):
        comm.Allreduce(array)
        if comm.rank == 1:
            array *= 0.5

    said = found(strategy=AllReduce(forgetful))
    assert said.broken == "sum"
    assert "rank 1" in said.text
