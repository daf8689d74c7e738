"""Layers within layers: the same edits, the same check, as in the list of the network itself."""

import numpy as np
import pytest

import dtnn
from dtnn import nn
from dtnn.lab import Builder
from dtnn.lab.lanes import lanes, with_lanes
from dtnn.lab.nested import after, neighbour
from dtnn.lab.vocabulary import LAYERS

BLOCK = "Residual(Sequential(Conv2d(8, 3, padding=1), BatchNorm2d(), ReLU()))"


class Around(nn.Layer):
    """A layer of one's own around another one."""

    def __init__(self, inner, factor=2.0, other=None):
        self.inner, self.factor, self.other = inner, factor, other

    def build(self, shape, rng):
        return self.inner.build(shape, rng)

    def forward(self, x, step=None):
        y, backward = self.inner.forward(x, step)
        return self.factor * y, lambda dy: backward(self.factor * dy)


class Listed(nn.Layer):
    """One around a list of them."""

    def __init__(self, layers, first=True):
        self.layers, self.first = layers, first

    def forward(self, x, step=None):
        return x, lambda dy: dy


@pytest.fixture
def builder():
    made = Builder(namespace={"Around": Around, "Listed": Listed})
    made.reshape((8, 8, 1))
    for call in ("Conv2d(8, 3, padding=1)", BLOCK, "Concatenate(Conv2d(4, 1), Sequential())", "Flatten()", "Linear(10)"):
        made.add(call)
    return made


def test_layers_are_added_moved_doubled_changed_and_taken_out_within_a_layer(builder):
    builder.add("Tanh()", (1, 0, 1))
    assert builder.calls[1] == "Residual(Sequential(Conv2d(8, 3, padding=1), Tanh(), BatchNorm2d(), ReLU()))"
    builder.move((1, 0, 1), (1, 0, 3))
    builder.duplicate((1, 0, 0))
    builder.remove((1, 0, 2))
    builder.change((1, 0, 1), "kernel_size", "1")
    builder.change((1, 0, 1), "padding", "0")
    assert builder.calls[1] == "Residual(Sequential(Conv2d(8, 3, padding=1), Conv2d(8, 1), ReLU(), Tanh()))"
    assert builder.arguments((1, 0, 1)) == {"channels": "8", "kernel_size": "1"}
    assert builder.call((1, 0, 3)) == "Tanh()"
    builder.replace((1, 0, 3), "Sigmoid()")
    assert builder.error == ""
    assert isinstance(builder.model().layers[1].body.layers[3], nn.Sigmoid)
    for _ in range(7):
        builder.undo()
    assert builder.calls[1] == BLOCK
    for _ in range(7):
        builder.redo()
    assert builder.call((1, 0, 3)) == "Sigmoid()"


def test_what_is_added_at_a_lane_comes_at_its_end_and_an_empty_shortcut_is_none(builder):
    builder.add("Conv2d(8, 1)", (1, 1))
    assert builder.calls[1].endswith("ReLU()), shortcut=Sequential(Conv2d(8, 1)))")
    builder.add("BatchNorm2d()", (1, 1))
    assert builder.call((1, 1, 1)) == "BatchNorm2d()"
    builder.remove((1, 1))
    assert builder.calls[1] == BLOCK
    builder.remove((1, 0))
    assert builder.calls[1] == "Residual(Sequential())"
    assert builder.error == ""


def test_branches_come_and_go(builder):
    builder.branch((2, 0))
    assert builder.calls[2] == "Concatenate(Sequential(Conv2d(4, 1)), Sequential(), Sequential())"
    builder.add("ReLU", (2, 1))
    builder.duplicate((2, 1))
    assert builder.calls[2] == "Concatenate(Sequential(Conv2d(4, 1)), Sequential(ReLU()), Sequential(ReLU()), Sequential())"
    builder.remove((2, 0))
    assert builder.calls[2] == "Concatenate(Sequential(ReLU()), Sequential(ReLU()), Sequential())"
    builder.remove((2, 0))
    builder.remove((2, 0))
    before = builder.state
    with pytest.raises(ValueError, match="Concatenate needs a branch"):
        builder.remove((2, 0))
    assert builder.state == before
    with pytest.raises(ValueError, match=r"place 1\.0 is no branch"):
        builder.branch((1, 0))


def test_a_layer_moves_from_lane_to_lane_and_at_any_depth(builder):
    builder.move(0, (0, 0, 0))  # what was behind it is in its place by then
    assert builder.calls[0] == BLOCK.replace("Sequential(", "Sequential(Conv2d(8, 3, padding=1), ")
    builder.undo()
    builder.add("Residual(Sequential(ReLU()))", (1, 0, 3))
    builder.add("Tanh()", (1, 0, 3, 0, 1))
    assert builder.calls[1].endswith("ReLU(), Residual(Sequential(ReLU(), Tanh()))))")
    builder.move((1, 0, 3, 0, 1), (2, 1, 0))
    assert builder.calls[2] == "Concatenate(Sequential(Conv2d(4, 1)), Sequential(Tanh()))"
    assert builder.calls[1].endswith("ReLU(), Residual(Sequential(ReLU()))))")
    assert builder.error == ""


@pytest.mark.parametrize(
    ("edit", "error", "words"),
    [
        (lambda b: b.remove((1, 0, 3)), IndexError, r"no layer at place 1\.0\.3; there are 3: give 0 to 2"),
        (lambda b: b.remove((1, 2)), IndexError, r"no lane at place 1\.2; there are 2: give 0 to 1"),
        (lambda b: b.remove((0, 0)), IndexError, r"no lane at place 0\.0; there are 0"),
        (lambda b: b.add("ReLU()", (1, 0, 4)), IndexError, r"no layer at place 1\.0\.4; there are 3: give 0 to 3"),
        (lambda b: b.add("ReLU()", (1, "0")), TypeError, "place '0' is no whole number"),
        (lambda b: b.add("ReLU()", ()), TypeError, r"place \(\) is no whole number"),
        (lambda b: b.replace((1, 0), "ReLU()"), ValueError, r"place 1\.0 is a lane, no layer"),
        (lambda b: b.change((1, 0, 0), "groups", "0"), ValueError, "groups is 0; it must be at least 1"),
        (lambda b: b.replace((1, 0, 0), "Conv(8)"), ValueError, "'Conv' is not known here; did you mean"),
        (lambda b: b.move((1, 0, 0), (1, 0, 3)), IndexError, r"no layer at place 1\.0\.3; there are 2"),
        (lambda b: b.move((1, 0, 0), (2, 0)), ValueError, r"place 2\.0 is a lane"),
        (lambda b: b.move((1, 0), (2, 0, 0)), ValueError, r"place 1\.0 is a lane"),
    ],
)
def test_a_wrong_edit_within_a_layer_changes_nothing_and_says_where(builder, edit, error, words):
    before = builder.state
    with pytest.raises(error, match=words):
        edit(builder)
    assert builder.state == before


def test_the_check_is_live_beside_each_layer_inside(builder):
    places = {place.path: place for place in builder.tree()}
    assert [path for path in places if path[0] == 1] == [(1,), (1, 0), (1, 0, 0), (1, 0, 1), (1, 0, 2), (1, 1)]
    summed = {row.name: row for row in builder.model().summary()}
    inner = places[1, 0, 0].row
    assert (inner.shape, inner.parameters, inner.bytes, inner.flops) == ((8, 8, 8), 584, 2336, 2 * 9 * 8 * 8 * 64)
    assert places[1,].row.parameters == sum(places[path].row.parameters for path in [(1, 0), (1, 1)]) == 600
    assert places[1,].row.parameters == summed["residual_1"].parameters
    assert places[2, 0].row.shape == (4, 8, 8)
    assert places[2, 1].row.shape == (8, 8, 8), "an empty branch is its input"
    assert places[2,].row.shape == (12, 8, 8)
    assert [p.path for p in builder.tree({(2,)}) if len(p.path) > 1] == [(2, 0), (2, 0, 0), (2, 1)]


def test_the_misfit_is_at_the_innermost_layer_that_has_it(builder):
    builder.add("Residual(Sequential(Conv2d(8, 3, padding=1), Flatten(), BatchNorm2d()))", (1, 0, 2))
    assert builder.misfit() == (1, 0, 2, 0, 2)
    places = {place.path: place.row for place in builder.tree()}
    told = places[1, 0, 2, 0, 2].error
    assert told.startswith("layer 3 (batchnorm2d_1, BatchNorm2d()): ")
    for path in ((1,), (1, 0), (1, 0, 2), (1, 0, 2, 0)):
        assert places[path].error.endswith(told), "the whole sentence, as the exception says it"
    with pytest.raises(ValueError, match="layer 2") as caught:
        dtnn.Model(*(builder.vocabulary.read(call) for call in builder.calls), input_shape=(8, 8, 1))
    assert str(caught.value) == places[1,].error
    assert places[1, 0, 2, 0, 1].shape == (512,)
    assert places[1, 0, 3].shape is None, "behind the misfit"
    builder.remove((1, 0, 2, 0, 1))
    assert builder.misfit() is None
    builder.add("MaxPool2d(2)", (1, 0))
    assert builder.misfit() == (1,), "all inside fits, but the two shapes differ"
    assert "both must be equal" in builder.error


def test_a_residual_that_is_added_by_its_name_fits_where_it_comes(builder):
    for at in (1, (1, 0, 1), (2, 0, 0), 4, 0):
        builder.add("Residual", at)
        assert builder.error == "", at
    builder.add("Residual")
    assert builder.calls[-1] == "Residual(Sequential(Linear(10), ReLU(), Linear(10)))"
    assert builder.error == ""


def test_layers_in_one_of_ones_own_are_edited_too_but_what_comes_in_is_up_to_it(builder):
    builder.replace(1, "Around(Sequential(ReLU(), Tanh()), factor=3.0)")
    builder.duplicate((1, 0, 0))
    assert builder.calls[1] == "Around(Sequential(ReLU(), ReLU(), Tanh()), factor=3.0)"
    builder.change(1, "factor", "4.0")
    builder.remove((1, 0, 0))
    builder.remove((1, 0, 0))
    assert builder.calls[1] == "Around(Sequential(Tanh()), factor=4.0)"
    places = {place.path: place for place in builder.tree()}
    assert (places[1, 0, 0].row.shape, places[1, 0, 0].known, places[1, 0].known) == (None, False, False)
    assert places[1,].row.shape == (8, 8, 8)
    assert builder.error == ""
    builder.replace(1, "Around(ReLU(), other=Tanh())")
    builder.move((1, 1, 0), (1, 0, 1))
    assert builder.calls[1] == "Around(Sequential(ReLU(), Tanh()), other=Sequential())", (
        "where nothing tells that it takes layers"
    )
    builder.replace(1, "Listed([ReLU(), Tanh()])")
    builder.move((1, 0, 0), (1, 0, 1))
    builder.add("GELU()", (1, 0))
    assert builder.calls[1] == "Listed([Tanh(), ReLU(), GELU()])"


@pytest.mark.parametrize(
    "call", ["Residual(ReLU())", "Sequential(ReLU(), Tanh())", "Concatenate(ReLU(), Sequential())", "Sequential()"]
)
def test_a_call_with_its_own_lanes_is_the_same_call(call):
    assert with_lanes(call, LAYERS, [lane.layers for lane in lanes(call, LAYERS)]) == call


def test_a_sequential_alone_in_a_row_stays_one():
    call = "Residual(Sequential(Sequential(ReLU())))"
    assert [lane.layers for lane in lanes(call, LAYERS)] == [("Sequential(ReLU())",), ()]
    assert with_lanes(call, LAYERS, [["Sequential(Tanh())"], []]) == "Residual(Sequential(Sequential(Tanh())))"
    assert with_lanes("Residual(ReLU())", LAYERS, [["Sequential(Tanh())"], []]) == "Residual(Sequential(Sequential(Tanh())))"


def test_a_layer_without_layers_has_no_lanes():
    assert [name for name in LAYERS if lanes(f"{name}()", LAYERS)] == ["Residual", "Sequential"], "Concatenate() has no branch"


def walked(calls, path, down, unfolded):
    """All the places through which a layer goes, moved on and on."""
    builder, places = Builder(), [path]
    builder.paste(f"[{', '.join(calls)}]")
    moving = builder.call(path)
    for _ in range(12):
        to = neighbour(builder.calls, path, down, LAYERS, unfolded)
        unfolded = {after(other, path, to) for other in unfolded}
        builder.move(path, to)
        assert builder.call(to) == moving
        path = to
        places.append(path)
    return list(dict.fromkeys(places))


def test_a_layer_is_moved_through_all_that_is_seen_and_back_the_same_way():
    calls = ["Tanh()", "Residual(Sequential(ReLU()))", "Concatenate(Sequential(), Sequential(ReLU()))", "ReLU()"]
    ways = walked(calls, (0,), True, {(1,), (2,)})
    assert ways == [
        (0,), (0, 0, 0), (0, 0, 1), (0, 1, 0), (1,), (1, 0, 0), (1, 1, 0), (1, 1, 1), (2,), (3,),
    ]  # fmt: skip
    back = walked([*calls[1:], "Tanh()"], (3,), False, {(0,), (1,)})
    assert back == ways[::-1]
    assert walked(calls, (0,), True, set()) == [(0,), (1,), (2,), (3,)], "what is folded is jumped over"


def test_where_a_place_is_after_an_edit_is_where_its_layer_is():
    dice = np.random.default_rng(0)
    for _ in range(200):
        builder = Builder()
        builder.paste("[ReLU(), Residual(Sequential(Linear(1), Residual(Linear(2)))), Concatenate(Linear(3), Tanh()), GELU()]")
        layers = [place.path for place in builder.tree() if not place.is_lane]
        calls = {path: builder.call(path) for path in layers}
        taken = layers[dice.integers(len(layers))]
        ends = [path for path in layers if path[: len(taken)] != taken]
        to = after(ends[dice.integers(len(ends))], taken)
        builder.move(taken, to)
        for path, call in calls.items():
            if not lanes(call, LAYERS):
                assert builder.call(after(path, taken, to)) == call
