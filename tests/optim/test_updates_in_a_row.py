"""Updates one after the other are those that come one by one, whatever Python is left out in between."""

import numpy as np
import pytest

from dtnn import optim
from dtnn.comm import Serial
from dtnn.kernels.aligned import aligned
from dtnn.machine import threads
from dtnn.nn import Linear, Parameters, Sequential
from dtnn.optim import SGD, Progress
from dtnn.parallel import AllReduce

RULES = [
    SGD(0.1), SGD(0.1, momentum=0.9), SGD(0.1, momentum=0.9, nesterov=True, weight_decay=0.01), SGD(0.1, clip_norm=0.5),
    SGD(optim.cosine(0.1), momentum=0.9), optim.Adam(0.1), optim.RMSProp(0.1), optim.LARS(0.1),
]  # fmt: skip


class Slower(SGD):
    """A rule of the user's own, made of a built-in one: what it does in Python must go on."""

    def change(self, parameters, value, grad, state, lr):
        state["seen"] = state.get("seen", 0) + 1
        SGD.change(self, parameters, value, grad, state, lr / state["seen"])


def parameters():
    net = Sequential(Linear(300), Linear(200))
    net.build((400,), np.random.default_rng(0))
    return Parameters(net)


def gradients(p, step):
    p.grad[: p.trainable] = np.random.default_rng(step).standard_normal(p.trainable)


def moment(step):
    return Progress(step=step, epoch=step / 3, steps_per_epoch=3, epochs=2)


@pytest.mark.parametrize("rule", [*RULES, Slower(0.1)], ids=repr)
def test_as_one_by_one(rule):
    one, other = parameters(), parameters()
    state, same = rule.state(one), rule.state(other)
    update = rule.updates(other, same)
    for step in range(1, 6):
        for p in (one, other):
            gradients(p, step)
        rule.update(one, state, moment(step))
        with threads(2 if step == 3 else 1):
            update(moment(step))
        np.testing.assert_array_equal(one.value, other.value)
        np.testing.assert_array_equal(one.grad, other.grad)


def test_an_exchange_sees_that_rule_state_or_gradients_are_others():
    rule, p, right = SGD(0.1, momentum=0.9), parameters(), parameters()
    exchange, state = AllReduce().begin(Serial(), p, rule), SGD(0.1, momentum=0.9).state(right)
    for step in range(1, 9):
        if step == 3:
            exchange.optimizer = rule = SGD(0.01, momentum=0.5)
        if step == 5:
            p.place_gradients(aligned(p.gradient_bytes, np.uint8))
        if step == 7:
            state["momentum"] = 2 * state["momentum"]
            exchange.take({"momentum": state["momentum"].copy()})
        for each in (p, right):
            gradients(each, step)
        exchange.update(moment(step))
        rule.update(right, state, moment(step))
        np.testing.assert_array_equal(p.value, right.value)
