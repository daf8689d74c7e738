"""What every layer of `dtnn.nn` keeps to, one test an agreement; a layer that is missing here makes a test fail."""

import copy
import pickle
import re

import numpy as np
import pytest

from dtnn import nn
from dtnn.nn import Concatenate, Layer, Parameters, Pass, Sequential
from dtnn.nn.tree import named_parameters
from tests.nn.checks import agree, check_gradients

pytestmark = pytest.mark.slow  # compiles nearly every kernel there is

# a constructor call, the shape of a sample, and a shape that does not fit (None: every shape fits)
CASES = [
    ("ReLU()", (3, 4, 5), None),
    ("LeakyReLU(0.2)", (3, 4, 5), None),
    ("ELU(1.5)", (3, 4, 5), None),
    ("GELU()", (3, 4, 5), None),
    ("SiLU()", (7,), None),
    ("Sigmoid()", (7,), None),
    ("Tanh()", (3, 4, 5), None),
    ("Arctanh()", (3, 4), None),
    ("Log()", (3, 4), None),
    ("Softmax()", (5, 3), None),
    ("LogSoftmax()", (5,), None),
    ("Dropout(0.3)", (3, 4, 5), None),
    ("Flatten()", (3, 4, 5), None),
    ("Reshape((4, -1))", (3, 4, 5), (3, 3)),
    ("Linear(4)", (6,), (6, 2, 2)),
    ("Linear(4, bias=False)", (6, 3), (6, 2, 2)),
    ("Conv2d(4, 3, padding=1)", (3, 6, 5), (9,)),
    ("Conv2d(16, 3, padding=1, algorithm='winograd')", (16, 6, 5), (16, 6)),
    ("Conv2d(3, (2, 3), stride=2, bias=False)", (2, 6, 7), (2, 1, 7)),
    ("Conv2d(4, 3, dilation=2, groups=2)", (4, 6, 7), (3, 6, 7)),
    ("Conv2d(3, 3, padding='same', groups=3)", (3, 6, 5), (4, 6, 5)),
    ("Conv2d(5, 1)", (3, 4, 5), (9,)),
    ("Conv2d(5, 3, algorithm='im2col')", (3, 4, 5), (3, 2, 5)),
    ("MaxPool2d(3, 2, 1)", (3, 6, 5), (9,)),
    ("MaxPool2d(2)", (3, 6, 5), (3, 1, 4)),
    ("AvgPool2d(2, ceil_mode=True)", (3, 5, 5), (9,)),
    ("AdaptiveAvgPool2d((2, 3))", (3, 5, 5), (9,)),
    ("GlobalAvgPool2d()", (3, 4, 5), (9,)),
    ("BatchNorm1d()", (6,), (6, 2, 2)),
    ("BatchNorm1d()", (6, 3), (6, 2, 2)),
    ("BatchNorm2d()", (3, 4, 5), (3,)),
    ("BatchNorm2d(sync=True)", (3, 4, 5), (3,)),
    ("LayerNorm()", (6, 4), (6, 4, 2)),
    ("Embedding(9, 4)", (5,), (5, 2, 2)),
    ("Positions()", (4, 5), (4,)),
    ("MultiHeadAttention(2)", (4, 5), (3, 5)),
    ("MultiHeadAttention(2, causal=True)", (4, 5), (4,)),
    ("TransformerEncoderBlock(2, hidden=6)", (4, 5), (3, 5)),
    ("TransformerEncoderBlock(2, hidden=6, dropout=0.3)", (4, 5), (3, 5)),
    ("Sequential(Linear(5), ReLU(), Linear(6), ReLU())", (6,), (6, 2, 2)),
    ("Residual(Sequential(Conv2d(3, 3, padding=1), ReLU()))", (3, 4, 5), (4, 4, 5)),
    ("Residual(Conv2d(3, 3, padding=1))", (3, 4, 5), (4, 4, 5)),
    ("Residual(Sequential(Conv2d(4, 3, stride=2, padding=1), BatchNorm2d()), Conv2d(4, 1, stride=2))", (3, 6, 5), (9,)),
    ("Concatenate(Sequential(), Conv2d(2, 3, padding=1))", (3, 4, 5), (9,)),
]
TOLD = {  # of a shape that does not fit, where not all of it matters
    "Conv2d(4, 3, dilation=2, groups=2)": "the 3 channels of the input",
    "Conv2d(3, 3, padding='same', groups=3)": "the 4 channels of the input",
    "Conv2d(3, (2, 3), stride=2, bias=False)": "the image is (1, 7)",
    "Conv2d(5, 3, algorithm='im2col')": "the image is (2, 5)",
    "MaxPool2d(2)": "the image is (1, 4)",
    "MultiHeadAttention(2)": "the 3 features",
    "TransformerEncoderBlock(2, hidden=6)": "the 3 features",
    "TransformerEncoderBlock(2, hidden=6, dropout=0.3)": "the 3 features",
}
ONES = [(call, shape) for call, shape, _ in CASES]
TOKENS, POSITIVE = ("Embedding",), ("Log()", "Arctanh()")
BUILT_FOR = (
    "Linear",
    "Conv2d",
    "BatchNorm",
    "LayerNorm",
    "Positions",
    "MultiHead",
    "Transformer",
    "Sequential",
    "Residual",
    "Concat",
)


def those(suits):
    """A test of all layers that suit it."""
    ones = [(call, shape) for call, shape in ONES if suits(call)]
    return pytest.mark.parametrize(("call", "shape"), ones, ids=[f"{call}-{shape}" for call, shape in ones])


every = those(lambda call: True)
of_numbers = those(lambda call: not call.startswith(TOKENS))
of_all_numbers = those(lambda call: not call.startswith(TOKENS) and call not in POSITIVE)


def name(call):
    return call.partition("(")[0]


def build(call, shape, dtype=np.float32, seed=0):
    """A layer with parameters of a type, none of them zero."""
    layer, rng = eval(call, vars(nn)), np.random.default_rng(seed)
    out = layer.build(shape, rng)
    Parameters(layer, dtype)
    for _, p, _ in named_parameters(layer):
        p.value[...] += 0.1 * rng.standard_normal(p.value.shape)
    return layer, out


def inputs(call, shape, count, dtype=np.float32, seed=1):
    rng = np.random.default_rng(seed)
    if call.startswith(TOKENS):
        return rng.integers(0, 9, (*shape, count)).astype(np.int32)
    if call in POSITIVE:
        return rng.uniform(0.1, 0.9, (*shape, count)).astype(dtype)
    return rng.standard_normal((*shape, count)).astype(dtype)


def delta(out, count, dtype=np.float32):
    return np.random.default_rng(2).standard_normal((*out, count)).astype(dtype)


def gradients(layer):
    return {name: p.grad.copy() for name, p, _ in named_parameters(layer)}


def cleared(layer):
    for _, p, _ in named_parameters(layer):
        p.grad[...] = 0


def there_and_back(layer, x, dy, step=None):
    """y, dx, gradients: copies, and what was handed in stays as it was."""
    cleared(layer)
    y, backward = layer.forward(x.copy(order="K"), step or Pass())
    y = y.copy()
    dx = backward(dy.copy(order="K"))
    return y, None if dx is None else dx.copy(), gradients(layer)


def close(found, expected, tolerance=1e-5):
    assert (found is None) == (expected is None)
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            close(found[key], expected[key], tolerance)
    elif isinstance(expected, tuple):
        for a, b in zip(found, expected, strict=True):
            close(a, b, tolerance)
    elif expected is not None:
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        assert np.abs(found - expected).max(initial=0) <= tolerance * max(1, np.abs(expected).max(initial=0))


def uses_the_batch(call):
    return "BatchNorm" in call


def differs_in_inference(call):
    return "BatchNorm" in call or "ropout" in call


def test_every_layer_is_here():
    kinds = {kind for kind in nn.__all__ if isinstance(getattr(nn, kind), type) and issubclass(getattr(nn, kind), Layer)}
    assert {name(call) for call, _, _ in CASES} == kinds - {"Layer"}


@pytest.mark.parametrize(("call", "shape", "wrong"), [case for case in CASES if case[2]], ids=lambda value: str(value))
def test_a_misfit_is_refused_with_the_layer_and_the_shape(call, shape, wrong):
    layer, rng = eval(call, vars(nn)), np.random.default_rng(0)
    with pytest.raises(ValueError, match=re.escape(TOLD.get(call, str(wrong)))) as raised:
        layer.build(wrong, rng)
    told = str(raised.value)
    assert "use" in told or "must be" in told or "must divide" in told or "before" in told, told  # what to do
    place = 2 if isinstance(layer, nn.Reshape) else 1
    with pytest.raises(ValueError, match=rf"layer 2 \({name(call).lower()}_{place}, {re.escape(repr(layer))}\): ") as raised:
        Sequential(nn.Reshape(wrong), layer).build((int(np.prod(wrong)),), rng)
    assert str(raised.value).endswith(told)


@those(lambda call: call.startswith(BUILT_FOR))
def test_another_shape_than_it_was_built_for_is_refused_with_both(call, shape):
    layer, _ = build(call, shape)
    wrong = (shape[0] + 1, *shape[1:], 3)
    with pytest.raises(ValueError, match=r"was built for samples of shape") as raised:
        layer.forward(np.zeros(wrong, np.float32), Pass())
    assert str(wrong) in str(raised.value)
    assert str(shape[0]) in str(raised.value)


@of_all_numbers
def test_gradients(call, shape):
    check_gradients(eval(call, vars(nn)), shape, 3, checks=8)


@every
def test_float32_agrees_with_float64_and_stays_float32(call, shape):
    layer, out = build(call, shape)
    x, dy = inputs(call, shape, 33), delta(out, 33)
    single = there_and_back(layer, x, dy)
    assert {array.dtype for array in (*single[:2], *single[2].values()) if array is not None} == {np.dtype(np.float32)}
    Parameters(layer, np.float64)
    x64 = x if x.dtype == np.int32 else x.astype(np.float64)
    double = there_and_back(layer, x64, dy.astype(np.float64))
    assert {array.dtype for array in (*double[:2], *double[2].values()) if array is not None} == {np.dtype(np.float64)}
    close(single, tuple(as_float32(part) for part in double), 1e-4)


def as_float32(part):
    if isinstance(part, dict):
        return {key: array.astype(np.float32) for key, array in part.items()}
    return None if part is None else part.astype(np.float32)


@every
@pytest.mark.parametrize("count", [0, 1, 7, 16])
def test_any_number_of_samples(call, shape, count):
    """A sample's numbers don't depend on how many others there are."""
    layer, out = build(call, shape)
    x, dy = inputs(call, shape, 33), delta(out, 33)
    few = np.ascontiguousarray(x[..., :count])
    inferred = layer(few)
    assert inferred.shape == (*out, count)
    close(inferred, np.ascontiguousarray(layer(x)[..., :count]))
    if uses_the_batch(call) and count:
        return
    y, dx, grads = there_and_back(layer, few, np.ascontiguousarray(dy[..., :count]))
    if count == 0:
        assert y.shape == (*out, 0)
        assert dx is None or dx.shape == (*shape, 0)
        assert not any(array.any() for array in grads.values())
        return
    rest = there_and_back(layer, np.ascontiguousarray(x[..., count:]), np.ascontiguousarray(dy[..., count:]), moved(count))
    whole = there_and_back(layer, x, dy)
    close(y, np.ascontiguousarray(whole[0][..., :count]))
    close(rest[0], np.ascontiguousarray(whole[0][..., count:]))
    close(dx, None if dx is None else np.ascontiguousarray(whole[1][..., :count]))
    close({key: grads[key] + rest[2][key] for key in grads}, whole[2], 1e-4)


def moved(first):
    """The pass of a rank that holds samples `first` .. 33."""
    step = Pass()
    step.begin(0, first, 33 - first, 33)
    return step


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_forwards_before_two_backwards(call, shape, dtype):
    layer, out = build(call, shape, dtype)
    xs, dys = [inputs(call, shape, 5, dtype, seed) for seed in (1, 2)], [delta(out, 5, dtype), 2 * delta(out, 5, dtype)]
    apart = [there_and_back(layer, x, dy, Pass()) for x, dy in zip(xs, dys)]
    if "ropout" in call:  # the second draws other masks: so the same pass again, one after the other
        step = Pass()
        apart = [there_and_back(layer, x, dy, step) for x, dy in zip(xs, dys)]
    cleared(layer)
    step = Pass()
    step.begin(0, 0, 5, 5)
    passes = [layer.forward(x.copy(), step) for x in xs]
    for (y, backward), dy, (y1, dx1, _) in zip(passes, dys, apart):
        close(y.copy(), y1)
        dx = backward(dy.copy())
        close(None if dx is None else dx.copy(), dx1)
    close(gradients(layer), {key: apart[0][2][key] + apart[1][2][key] for key in apart[0][2]})


@every
def test_used_twice_side_by_side(call, shape):
    layer, out = build(call, shape, np.float64)
    shared, apart = Concatenate(layer, layer), Concatenate(copy.deepcopy(layer), copy.deepcopy(layer))
    x, dy = inputs(call, shape, 5, np.float64), delta((2 * out[0], *out[1:]), 5, np.float64)
    for net in (shared, apart):
        net.build(shape, np.random.default_rng(0))
        Parameters(net, np.float64)
    found, expected = there_and_back(shared, x, dy), there_and_back(apart, x, dy)
    close(found[:2], expected[:2], 1e-12)
    pairs = list(expected[2].values())
    for place, gradient in enumerate(found[2].values()):
        close(gradient, pairs[place] + pairs[place + len(pairs) // 2], 1e-12)


@of_all_numbers
def test_used_twice_in_a_row(call, shape):
    layer, out = build(call, shape, np.float64)
    if out != shape:  # then there is nothing to be in a row
        return
    shared, apart = Sequential(layer, layer), Sequential(copy.deepcopy(layer), copy.deepcopy(layer))
    x, dy = inputs(call, shape, 5, np.float64), delta(out, 5, np.float64)
    for net in (shared, apart):
        net.build(shape, np.random.default_rng(0))
        Parameters(net, np.float64)
    found, expected = there_and_back(shared, x, dy), there_and_back(apart, x, dy)
    close(found[:2], expected[:2], 1e-12)
    pairs = list(expected[2].values())
    for place, gradient in enumerate(found[2].values()):
        close(gradient, pairs[place] + pairs[place + len(pairs) // 2], 1e-12)


@every
def test_inference_is_the_forward_of_training(call, shape):
    layer, _ = build(call, shape)
    x = inputs(call, shape, 18)
    inferred, trained = layer(x).copy(), layer.forward(x, Pass())[0]
    if differs_in_inference(call):
        assert np.abs(inferred - trained).max() > 1e-3
    else:
        close(inferred, trained)


@every
def test_repr_makes_it_again(call, shape):
    layer, out = build(call, shape)
    again = eval(repr(layer), vars(nn))
    assert repr(again) == repr(layer) == repr(eval(call, vars(nn)))
    assert again.build(shape, np.random.default_rng(0)) == out


@every
def test_it_travels(call, shape):
    layer, _ = build(call, shape)
    x = inputs(call, shape, 9)
    layer.forward(x, Pass())  # what a forward leaves behind travels, too, if it is anything
    for again in (pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer)):
        np.testing.assert_array_equal(again(x), layer(x))
        assert repr(again) == repr(layer)


@every
def test_arrays_in_another_layout_give_the_same_numbers(call, shape):
    layer, out = build(call, shape)
    x, dy = inputs(call, shape, 17), delta(out, 17)
    inferred = layer(x).copy()
    for other in (np.asfortranarray, strided):
        close(layer(other(x)).copy(), inferred, 1e-6)
        close(there_and_back(copy.deepcopy(layer), other(x), other(dy)), there_and_back(copy.deepcopy(layer), x, dy), 1e-6)


def strided(array):
    """Every second number of a larger array, which holds NaN between."""
    wide = np.full((*array.shape[:-1], 2 * array.shape[-1]), np.nan if array.dtype.kind == "f" else -1, array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


@of_numbers
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("relu", [False, True])
def test_a_nan_is_never_hidden(call, shape, dtype, relu):
    """One NaN in sample 7 of 20 is in its output, and in no other's; with a ReLU behind it, too, which may be fused."""
    layer, _ = build(call, shape, dtype)
    net = Sequential(layer, nn.ReLU()) if relu else Sequential(layer)
    net.build(shape, np.random.default_rng(0))
    x = inputs(call, shape, 20, dtype)
    x[(0,) * len(shape)][7] = np.nan
    y = net(x)
    assert np.isnan(y[..., 7]).any()
    assert np.isfinite(np.delete(y, 7, -1)).all()
    if "ropout" in call:
        x[..., 7] = np.nan
    assert np.isnan(net.forward(x, Pass())[0][..., 7]).any()


@of_numbers
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_nan_is_not_hidden_on_its_way_back(call, shape, dtype):
    layer, out = build(call, shape, dtype)
    x, dy = np.abs(inputs(call, shape, 20, dtype)) * 0.5 + 0.01, delta(out, 20, dtype)
    dy[..., 7] = np.nan
    assert np.isnan(there_and_back(layer, x, dy)[1][..., 7]).any()


@every
def test_a_frozen_layer_has_the_same_dx_and_no_gradients(call, shape):
    layer, out = build(call, shape)
    x, dy = inputs(call, shape, 17), delta(out, 17)
    y, dx, _ = there_and_back(layer, x, dy)
    layer.trainable = False
    Parameters(layer)
    frozen = there_and_back(layer, x, dy)
    close(frozen[:2], (y, dx))
    assert not any(gradient.any() for gradient in frozen[2].values())


@every
def test_behind_the_models_input_there_is_no_dx_but_the_same_gradients(call, shape):
    layer, out = build(call, shape)
    x, dy = inputs(call, shape, 17), delta(out, 17)
    expected = there_and_back(layer, x, dy)
    cleared(layer)
    step = Pass()
    step.begin(0, 0, 17, 17, x=x)
    y, backward = layer.forward(x, step)
    close(y.copy(), expected[0])
    backward(dy.copy())
    close(gradients(layer), expected[2])


@every
def test_buffers_serve_again_without_a_trace(call, shape):
    layer, out = build(call, shape)
    large, few, step = inputs(call, shape, 33), inputs(call, shape, 5), Pass()
    expected = there_and_back(layer, few, delta(out, 5), Pass())
    for number, count in enumerate((33, 5, 33, 5)):
        step.begin(0 if count == 5 else number, 0, count, count)
        found = there_and_back(layer, few if count == 5 else large, delta(out, count), step)
    close(found, expected, 1e-6)


@of_all_numbers
def test_agrees_at_every_width(call, shape):
    for count in (1, 2, 31):
        if count > 2 or not uses_the_batch(call):  # the variance of two numbers may be tiny
            agree(eval(call, vars(nn)), shape, count)
