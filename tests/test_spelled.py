"""Calls read as text make what they say, and nothing else is ever executed."""

import math

import pytest

from dtnn import nn, optim, parallel, training
from dtnn.recipe import MODULES
from dtnn.spelled import call, made

OPTIMIZERS = [optim, optim.schedules]


@pytest.mark.parametrize(
    "thing",
    [
        optim.SGD(0.1),
        optim.Adam(optim.schedules.cosine(0.003)),
        optim.LARS(optim.schedules.step(0.1, epochs=(2, 5))),
        optim.AdamW(1e-3, betas=(0.8, 0.99)),
    ],
)
def test_an_optimizer_is_made_again_from_what_it_says_of_itself(thing):
    assert made(repr(thing), OPTIMIZERS, "optimizer") == thing


@pytest.mark.parametrize(
    "thing",
    [
        parallel.AllReduce("ring"),
        parallel.AllReduce("in_float64"),
        parallel.Accumulate(2, parallel.AllReduce(bucket_bytes=1000)),
        parallel.LocalSGD(8),
        parallel.ParameterServer(None),
    ],
)
def test_a_strategy_is_made_again(thing):
    assert repr(made(repr(thing), [parallel], "strategy")) == repr(thing)


@pytest.mark.parametrize("name", nn.metrics.__all__)
def test_a_metric_is_made_again_from_what_it_says_of_itself(name):
    thing = getattr(nn.metrics, name)
    assert repr(made(repr(thing), MODULES["metric"], "metric")) == repr(thing)


def test_a_rate_scaled_for_a_larger_batch_can_be_written():
    """As the user would; it shows itself as what it is made of, which can be read again."""
    text = "LARS(legw(poly(0.0625, 2), 64, 0.25), trust=0.05)"
    thing = made(text, MODULES["optimizer"], "optimizer")
    assert repr(thing) == "LARS(lr=warm_up(times(poly(0.0625, 2), 8.0), 16.0), trust=0.05)"
    assert made(repr(thing), MODULES["optimizer"], "optimizer") == thing
    assert made('SGD(scaled(0.1, 4, "sqrt"))', MODULES["optimizer"], "optimizer") == optim.SGD(0.2)


def test_a_loss_with_settings_is_made_again():
    thing = nn.losses.cross_entropy
    assert made("cross_entropy", MODULES["loss"], "loss") is thing
    assert made("CrossEntropy(label_smoothing=0.1)", MODULES["loss"], "loss").label_smoothing == 0.1
    assert made("Huber(delta=2.0)", MODULES["loss"], "loss") == nn.Huber(2.0)
    with pytest.raises(ValueError, match="there is no 'per_sample'"):
        made("per_sample", MODULES["loss"], "loss")


def test_names_of_numbers_that_python_has_no_literal_for():
    assert made("StopAt('loss', inf)", [training], "callback").value == math.inf


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch executed')",
        "os.system('touch executed')",
        "SGD.__class__",
        "SGD(lr=(lambda: 1)())",
        "[x for x in (1,)]",
        "open('executed', 'w')",
        "exec('1')",
        "functools",
        "SGD(**{})",
        "1 +",
        "(" * 1000,
        "",
    ],
)
def test_what_is_no_call_of_a_known_name_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"optimizer .*can't be made"):
        made(text, OPTIMIZERS, "optimizer")
    assert list(tmp_path.iterdir()) == []


def test_the_nearest_right_name_is_told():
    with pytest.raises(ValueError, match="there is no 'Adem'; did you mean 'Adam'"):
        made("Adem(0.1)", OPTIMIZERS, "optimizer")
    with pytest.raises(ValueError, match=r"optimizer 'SGD\(\)' can't be made: .*lr"):
        made("SGD()", [_Strict], "optimizer")


class _Strict:
    """A place with one name, whose call needs an argument."""

    __all__ = ("SGD",)

    @staticmethod
    def SGD(lr):
        return lr


def test_a_call_is_written_as_it_is_read():
    assert made(call("SGD", (0.1,), {"momentum": 0.5}), OPTIMIZERS, "optimizer") == optim.SGD(0.1, momentum=0.5)
