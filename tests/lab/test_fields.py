"""Controls come from signatures and docstrings."""

import pytest

from dtnn import nn, optim, parallel
from dtnn.lab.fields import documented, example, fields, one_line


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


def test_every_public_parameter_has_words():
    things = [getattr(nn, name) for name in ("Conv2d", "Linear", "MaxPool2d", "MultiHeadAttention", "TransformerEncoderBlock")]
    things += [optim.SGD, parallel.AllReduce, parallel.LocalSGD, parallel.Gossip, parallel.Compressed]
    missing = [(thing.__name__, field.name) for thing in things for field in fields(thing) if not field.help]
    assert [name for _, name in missing if name != "bias"] == []


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
