"""Controls come from signatures and docstrings."""

import pytest

from dtnn import nn, optim, parallel
from dtnn.lab.fault_chooser import FAULTS
from dtnn.lab.fields import documented, example, fields, one_line
from dtnn.lab.settings_panel import OPTIMIZERS, SCHEDULES
from dtnn.lab.strategy_chooser import STRATEGIES
from dtnn.lab.vocabulary import LAYERS


def by_name(function):
    return {field.name: field for field in fields(function)}


def test_a_layer():
    found = by_name(nn.Conv2d)
    assert found["channels"].kind == "whole"
    assert found["channels"].needed
    assert found["groups"].low == 1
    assert found["bias"].kind == "flag"
    assert found["bias"].default is True
    assert found["init"].choices[:2] == ("he_normal", "he_uniform")
    assert found["algorithm"].choices == ("auto", "direct", "im2col", "winograd")
    assert found["padding"].kind == "code"
    assert "same" in found["padding"].help
    assert by_name(nn.Dropout)["rate"].high == 1.0
    assert by_name(nn.Concatenate)["branches"].starred


def test_optimizers_and_strategies():
    found = by_name(optim.SGD)
    assert (found["lr"].kind, found["lr"].default) == ("number", 0.01)
    assert (found["momentum"].low, found["momentum"].high) == (0.0, 1.0)
    assert found["nesterov"].kind == "flag"
    assert found["clip_norm"].kind == "code"
    assert by_name(optim.Adam)["betas"].kind == "code"
    assert by_name(parallel.Compressed)["kind"].choices == ("top_k", "int8", "fp16", "sign")
    assert "ring" in by_name(parallel.AllReduce)["algorithm"].choices
    assert by_name(parallel.LocalSGD)["every"].kind == "whole"
    assert by_name(parallel.LocalSGD)["after"].low == 0
    assert by_name(optim.cosine)["end"].kind == "number"


@pytest.mark.parametrize(
    "offered", [LAYERS, OPTIMIZERS, SCHEDULES, STRATEGIES, FAULTS], ids=["layers", "optim", "schedules", "strategies", "faults"]
)
def test_all_that_the_studio_offers_has_words(offered):
    things = {name: thing for name, thing in offered.items() if thing is not None}
    assert len(things) >= 2
    assert [name for name, thing in things.items() if len(one_line(thing)) < 10] == []
    missing = [(name, field.name) for name, thing in things.items() for field in fields(thing) if not field.help]
    assert missing == []
    unresolved = [(name, field.name) for name, thing in things.items() for field in fields(thing) if "As in" in field.help[:6]]
    assert unresolved == []


def test_words_of_another_class_are_taken_over_where_a_docstring_points_to_it():
    adam, adamw = by_name(optim.Adam), by_name(optim.AdamW)
    assert adamw["betas"].help == adam["betas"].help
    assert adamw["lr"].kind == "number"
    assert adamw["weight_decay"].help != adam["weight_decay"].help, "its own words come first"
    assert by_name(nn.BatchNorm1d)["momentum"].help == by_name(nn.BatchNorm2d)["momentum"].help
    assert by_name(optim.Nadam)["clip_norm"].help == by_name(optim.SGD)["clip_norm"].help, "through two of them"


def test_without_docstring_or_types():
    def plain(a, b=2, c=0.5, d="x", e=None, *, f=True, **rest):
        pass

    assert [(field.name, field.kind) for field in fields(plain, skip=("d",))] == [
        ("a", "code"), ("b", "whole"), ("c", "number"), ("e", "code"), ("f", "flag"),
    ]  # fmt: skip
    assert documented(plain) == {}
    assert one_line(plain) == ""


@pytest.mark.parametrize("name", ["Linear", "Residual", "Reshape"])
def test_examples_are_whole_calls(name):
    text = example(getattr(nn, name))
    assert text.startswith(f"{name}(")
    assert text.count("(") == text.count(")")
