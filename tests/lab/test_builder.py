"""The list of layers behind the studio: what it says, what it makes, and that code leads back to it."""

import subprocess
import sys

import numpy as np
import pytest

import dtnn
from dtnn import Model, nn, zoo
from dtnn.lab.arguments import start
from dtnn.lab.builder import Builder
from dtnn.lab.vocabulary import LAYERS
from tests.lab.random_models import random_builder


class Double(nn.Layer):
    """Twice its input."""

    def forward(self, x, step=None):
        return 2 * x, lambda dy: 2 * dy


class Scale(nn.Layer):
    """Its input times a number."""

    def __init__(self, factor, shift=0.0):
        self.factor, self.shift = factor, shift

    def forward(self, x, step=None):
        return self.factor * x + self.shift, lambda dy: self.factor * dy


def executed(builder, **names):
    """The model that its code makes."""
    space = dict(names)
    exec(builder.code(), space)
    return space["model"]


def same(one, other):
    assert one.to_code() == other.to_code()
    assert one.input_shape == other.input_shape
    assert one.seed == other.seed
    ours, theirs = one.state_dict(), other.state_dict()
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


INPUTS = {
    **dict.fromkeys(("Conv2d", "MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d", "GlobalAvgPool2d", "BatchNorm2d"), (8, 9, 4)),
    **dict.fromkeys(("Embedding",), (5,)),
    **dict.fromkeys(("Positions", "MultiHeadAttention", "TransformerEncoderBlock"), (5, 16)),
    "Reshape": (784,),
    "Residual": (8, 9, 8),
    "Concatenate": (8, 9, 4),
}


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_can_be_added_by_its_name_and_its_code_makes_the_same_model(name):
    builder = Builder()
    builder.reshape(INPUTS.get(name, (12,)))
    builder.add(name)
    assert builder.error == ""
    same(executed(builder), builder.model())
    row = builder.check()[0]
    made = nn.summary(builder.model().net)[0]
    assert (row.name, row.shape, row.parameters, row.bytes) == (made.name, made.shape, made.parameters, made.bytes)
    assert row.flops is not None


@pytest.mark.parametrize("name", zoo.__all__)
def test_every_preset(name):
    builder, whole = Builder(), getattr(zoo, name)()
    builder.reshape(whole.input_shape)
    builder.preset(name)
    assert [(r.name, r.shape, r.parameters, r.bytes) for r in builder.check()] == [
        (r.name, r.shape, r.parameters, r.bytes) for r in whole.summary()
    ]
    same(builder.model(), whole)
    if name not in ("vgg11", "alexnet"):  # the same road, at length
        same(executed(builder), whole)
    other = Builder(whole)
    assert other.state == builder.state


@pytest.mark.parametrize("what", ["add", "paste", "take", "preset"])
@pytest.mark.parametrize("value", [None, True, 3, b"Linear(3)", ["Linear(3)"], {}])
def test_what_is_no_text_and_no_model_is_told_and_changes_nothing(what, value):
    builder = Builder()
    before = builder.calls
    with pytest.raises(TypeError, match=r"is no text; give Python|is no Model; paste|preset=.*: give one of 'alexnet', "):
        getattr(builder, what)(value)
    assert builder.calls == before
    assert not builder.can_undo


def test_a_preset_that_does_not_fit_says_where():
    builder = Builder()
    builder.preset("vgg11")
    wrong = [row for row in builder.check() if row.error]
    assert len(wrong) == 1
    assert "MaxPool2d(2) has a window of (2, 2), but the image is (1, 1)" in wrong[0].error


def test_many_of_the_random_networks_are_nested_and_were_edited_inside():
    """Or the next test would say little."""
    deep = [max(len(place.path) // 2 for place in random_builder(seed).tree()) for seed in range(200)]
    assert sum(depth >= 1 for depth in deep) > 100
    assert sum(depth >= 2 for depth in deep) > 40
    assert max(deep) >= 3


@pytest.mark.parametrize("seeds", range(10))
def test_code_to_model_to_code_is_a_fixed_point(seeds):
    for seed in range(20 * seeds, 20 * seeds + 20):
        builder = random_builder(seed)
        model = builder.model()
        same(executed(builder), model)
        pasted = Builder()
        pasted.paste(builder.code())
        assert pasted.state == builder.state, seed
        assert pasted.code() == builder.code() == model.to_code()
        assert Builder(model).state == builder.state


def test_the_misfit_is_marked_at_its_layer_in_the_words_of_the_exception():
    builder = Builder()
    for call in ("Conv2d(6, 5)", "Residual(Conv2d(6, 3, padding=1))", "Conv2d(16, 25)", "Flatten()"):
        builder.add(call)
    rows = builder.check()
    with pytest.raises(ValueError, match="layer 3") as caught:
        Model(*(builder.vocabulary.read(call) for call in builder.calls))
    assert [row.error for row in rows] == ["", "", str(caught.value), ""]
    assert [row.shape for row in rows] == [(6, 24, 24), (6, 24, 24), None, None]
    assert builder.error == rows[2].error
    with pytest.raises(ValueError, match="smaller kernel_size"):
        builder.model()


def test_edits_and_the_way_back():
    builder = Builder()
    for call in ("Flatten()", "Linear(10)", "ReLU()"):
        builder.add(call)
    builder.move(2, 0)
    assert builder.calls == ("ReLU()", "Flatten()", "Linear(10)")
    builder.duplicate(0)
    builder.remove(2)
    builder.change(2, "bias", "False")
    assert builder.calls == ("ReLU()", "ReLU()", "Linear(10, bias=False)")
    assert builder.arguments(2) == {"features": "10", "bias": "False"}
    for _ in range(4):
        builder.undo()
    assert builder.calls == ("Flatten()", "Linear(10)", "ReLU()")
    for _ in range(4):
        builder.redo()
    assert builder.calls == ("ReLU()", "ReLU()", "Linear(10, bias=False)")
    builder.undo()
    builder.add("Tanh()", at=0)
    assert not builder.can_redo
    while builder.can_undo:
        builder.undo()
    builder.undo()
    assert builder.calls == ()
    with pytest.raises(IndexError, match="no layer at place 3; there are 0"):
        builder.remove(3)


def test_a_wrong_edit_changes_nothing_and_says_why():
    builder = Builder()
    builder.add("Conv2d(6, 5)")
    with pytest.raises(ValueError, match="groups is 0; it must be at least 1"):
        builder.change(0, "groups", "0")
    with pytest.raises(ValueError, match="did you mean Linear"):
        builder.add("Linaer(10)")
    with pytest.raises(ValueError, match="Conv2d: channels must be given"):
        builder.change(0, "channels", "")
    with pytest.raises(ValueError, match="is no Python"):
        builder.change(0, "kernel_size", "3, (")
    with pytest.raises(TypeError, match="channels"):
        builder.add("Conv2d(kernel_size=3)")
    assert builder.calls == ("Conv2d(6, 5)",)


def test_two_numbers_need_no_brackets():
    builder = Builder()
    builder.add("Conv2d(6, 5)")
    builder.change(0, "kernel_size", "3, 5")
    assert builder.calls == ("Conv2d(6, (3, 5))",)


def test_nothing_but_starred_arguments_by_place():
    builder = Builder()
    builder.add("Concatenate(Sequential(), Conv2d(4, 1))")
    builder.change(0, "branches", "Conv2d(4, 1), Conv2d(2, 3, padding=1)")
    assert builder.calls == ("Concatenate(Sequential(Conv2d(4, 1)), Sequential(Conv2d(2, 3, padding=1)))",)


def test_layers_of_ones_own_are_found_by_name_and_looked_at_anew():
    space = {"Double": Double, "Scale": Scale, "x": 3}
    builder = Builder(namespace=space)
    builder.add("Double")
    builder.add("Scale")
    builder.add("Flatten()")
    assert builder.calls == ("Double()", "Scale(1)", "Flatten()")
    assert [row.error for row in builder.check()] == ["", "", ""]
    assert builder.check()[1].flops is None
    same(executed(builder, Double=Double, Scale=Scale), builder.model())
    assert "# Double, Scale: your own" in builder.code()

    class Wrong(nn.Layer):
        def forward(self, x, step=None):
            raise KeyError("weights")

    space["Double"] = type("Double", (Wrong,), {})
    assert builder.check()[0].error == "layer 1 (double_1, Double()): KeyError: 'weights'"
    del space["Double"]
    assert "'Double' is not known here" in builder.error


def test_a_function_for_first_weights_keeps_its_name():
    def mine(rng, shape):
        return np.full(shape, 0.5)

    builder = Builder(namespace={"mine": mine})
    builder.paste("Model(Flatten(), Linear(3, init=mine), Linear(2, init=zeros))")
    assert builder.calls[1:] == ("Linear(3, init=mine)", "Linear(2, init='zeros')")
    assert builder.model().state_dict()["linear_1.weight"].mean() == 0.5


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "import dtnn\nmodel = dtnn.Model(dtnn.nn.Flatten(), nn.Linear(5), input_shape=(4, 4, 1), seed=3)",
            ("Flatten()", "Linear(5)"),
        ),
        ("[Flatten(), Linear(5)]", ("Flatten()", "Linear(5)")),
        ("net = Sequential(\n  Flatten(),  # rows\n  Linear(5),\n)", ("Flatten()", "Linear(5)")),
        ("Linear(5)", ("Linear(5)",)),
        ("m = zoo.mlp((4,), hidden=(3,), classes=2)", ("Flatten()", "Linear(3)", "ReLU()", "Linear(2)")),
        ("model = Model(Flatten(), Linear(5))\nmodel.fit(digits)", ("Flatten()", "Linear(5)")),
    ],
)  # fmt: skip
def test_what_can_be_pasted(text, found):
    builder = Builder()
    builder.paste(text)
    assert builder.calls == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no network in this"),
        ("model = 5", "no network in this"),
        ("Model(Flatten(), Linear(", "no Python"),
        ("Model(\n  Flatten(),\n  Linaer(5))", "line 3: 'Linaer' is not known here; did you mean Linear"),
        ("Model(*layers)", "layers: write the layers out"),
        ("Model(Flatten(), Linear(n))", "'n' is not known here"),
        ("Model(Flatten(), Linear(2 * 3))", "2 . 3 is not read here"),
        ("Model(Flatten(), epochs=3)", "Model has no setting 'epochs'"),
        ("Model(Flatten(), input_shape=(0, 2))", "input_shape="),
        ("Model(print('hello'))", "'print' is not known here"),
        ("Model(Linear(5).build((3,), None))", "is not"),
        ("Model((lambda: Linear(5))())", "is not read here"),
        ("Model(Flatten(**__import__('os').environ))", "is not read here"),
        ("(" * 500 + "1" + ")" * 500, "nested|no Python"),
    ],
)
def test_what_can_not_be_pasted_is_told_in_words_and_changes_nothing(text, words, capsys):
    builder = Builder()
    builder.add("Flatten()")
    with pytest.raises(ValueError, match=words):
        builder.paste(text)
    assert builder.calls == ("Flatten()",)
    assert capsys.readouterr().out == ""


def test_pasted_code_is_never_executed(tmp_path):
    file = tmp_path / "made"
    for text in (f"open({str(file)!r}, 'w')", f"__import__('pathlib').Path({str(file)!r}).touch()"):
        for wrapped in (text, f"Model({text})", f"Model(Linear({text}))", f"Model(Flatten(), input_shape={text})", f"[{text}]"):
            with pytest.raises(ValueError, match=r"."):
                Builder().paste(wrapped)
    assert not file.exists()


def test_a_slip_of_the_finger_does_not_fill_the_memory():
    builder = Builder()
    builder.add("Flatten()")
    builder.add("Linear(1000000000)")
    assert "784,000,000,000 numbers" in builder.error


def test_a_model_with_one_layer_used_twice_is_refused():
    twice = nn.Linear(784)
    with pytest.raises(ValueError, match="used twice"):
        Builder(Model(nn.Flatten(), twice, twice))


def test_flops_of_lenet():
    builder = Builder(dtnn.zoo.lenet5())
    rows = builder.check()
    assert rows[0].flops == 2 * 6 * 25 * 28 * 28
    assert rows[3].flops == 2 * 16 * 6 * 25 * 10 * 10
    assert rows[7].flops == 2 * 120 * 400


def test_a_check_is_quick_when_one_layer_changes():
    """Looks at layers are remembered: only the changed one is made again."""
    builder = Builder()
    builder.preset("vgg11")
    builder.reshape((32, 32, 3))
    builder.check()
    before = builder._looks.cache_info().misses
    builder.replace(len(builder.calls) - 1, "Linear(12)")
    assert builder.check()[-1].shape == (12,)
    assert builder._looks.cache_info().misses == before + 1


def test_start_takes_the_example_of_the_docstring():
    assert start(nn.Conv2d) == "Conv2d(6, 5, padding=2)"


@pytest.mark.processes
def test_the_builder_needs_no_widgets_and_the_others_say_what_to_install():
    code = (
        "import sys; sys.modules['ipywidgets'] = None\n"
        "import dtnn\n"
        "builder = dtnn.lab.Builder(); builder.preset('mlp'); assert builder.error == ''\n"
        "try:\n    dtnn.lab.Studio\nexcept ImportError as error:\n    print(error)\n"
        "try:\n    dtnn.lab.Studioo\nexcept AttributeError as error:\n    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    first, second = ran.stdout.splitlines()
    assert first == "dtnn.lab.Studio needs ipywidgets: python -m pip install ipywidgets"
    assert second.startswith("dtnn.lab has no 'Studioo'; it has AllReduceLab, Builder")


def test_it_shows_its_layers_and_what_does_not_fit():
    builder = Builder()
    assert repr(builder).splitlines() == ["Builder: 0 layers, input 28 × 28 × 1, 0 parameters", f"{builder.error}"]
    builder.add("Flatten()")
    builder.add("Linear(10)")
    assert repr(builder) == "Builder: 2 layers, input 28 × 28 × 1, 7,850 parameters\n  Flatten()\n  Linear(10)"
    builder.remove(0)
    assert repr(builder).endswith(builder.error)
    assert "layer 1 (linear_1, Linear(10))" in repr(builder)
