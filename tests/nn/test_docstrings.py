"""What a docstring of a layer, a loss or an initialiser says: the shapes, what it costs, where it is from."""

import inspect
import re

import pytest

from dtnn import nn
from dtnn.nn import init

SHAPE = r"\((?:[A-Z][A-Z0-9]*|\.\.\.|\*shape|classes)(?:[, ]+(?:[A-Z][A-Z0-9]*|\.\.\.))*, (?:N|K)\)|\(N,\)"
COST = r"floating-point operations|pass(?:es)? (?:over|of)|nothing moves|one pass\b|no pass of its own"
YEAR = r"(?:19|20)\d\d"
NAMELESS = {  # what nobody is known to have thought of first
    "Arctanh", "Flatten", "Log", "LogSoftmax", "Reshape", "Sigmoid", "Tanh", "binary_cross_entropy", "cross_entropy", "mae",
    "mse",
}  # fmt: skip
LAYERS = {
    name
    for name in nn.__all__
    if inspect.isclass(getattr(nn, name)) and issubclass(getattr(nn, name), nn.Layer) and name not in ("Layer", "Sequential")
}
LOSSES = {"CrossEntropy", "Huber", *nn.losses.__all__}
ALL = sorted(LAYERS | LOSSES)


def said(name):
    return inspect.getdoc(getattr(nn, name))


@pytest.mark.parametrize("name", ALL)
def test_shapes_of_what_goes_in_and_comes_out(name):
    words = " ".join(said(name).split())
    assert re.search(SHAPE, words), words
    assert re.search(r"\by\b" if name in LAYERS else r"[Oo]utputs", words)
    assert re.search(r"\bx\b" if name in LAYERS else r"[Tt]argets", words)


@pytest.mark.parametrize("name", ALL)
def test_cost(name):
    assert re.search(COST, " ".join(said(name).split()))


@pytest.mark.parametrize("name", sorted({*ALL} - NAMELESS))
def test_source(name):
    words = " ".join(said(name).split())
    assert re.search(rf"[A-Z]\S+.*, .*{YEAR}\.", words), words


@pytest.mark.parametrize("name", sorted({*ALL} - {"cross_entropy"}))
def test_sections_are_in_the_order_of_all(name):
    order = ["Parameters", "Attributes", "Returns", "Raises", "Notes", "Examples"]
    found = re.findall(r"^(\w+)\n-+$", said(name), re.M)
    assert found == [section for section in order if section in found]
    assert "Examples" in found


@pytest.mark.parametrize("name", sorted({*init.__dict__} & {*nn.__all__} - {"Constant", "zeros", "ones", "Parameter"}))
def test_initialisers_say_where_they_are_from(name):
    assert re.search(YEAR, inspect.getdoc(getattr(init, name)))


def test_the_check_finds_what_is_missing():
    assert not re.search(SHAPE, "Switch off a share of x (of any kind) to get y (N of them).")
    assert not re.search(COST, "Pass it on.")
