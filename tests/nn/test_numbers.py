"""NumPy's numbers as settings: they are kept as Python's, so that a file and code can hold them."""

import ast
import inspect

import numpy as np
import pytest

from dtnn import Model, load, nn, optim
from dtnn.description import build, describe
from dtnn.nn.metrics import ConfusionMatrix
from dtnn.nn.metrics.right import TopK
from dtnn.optim import cosine, plateau, warm_up

I, F = np.int64, np.float64
IMAGE, ROW, SEQUENCE = (4, 8, 8), (6,), (4, 6)
LAYERS = {
    "Linear(I(3))": ROW,
    "Conv2d(I(4), I(3))": IMAGE,
    "Conv2d(np.uint8(4), (I(3), 2), stride=(I(2), I(1)), padding=(I(1), 0), dilation=I(1), groups=I(2))": IMAGE,
    "Conv2d(4, 3, padding=np.int32(1), dilation=(I(1), I(1)))": IMAGE,
    "MaxPool2d(I(2), I(2), I(1))": IMAGE,
    "MaxPool2d((I(2), 2), stride=(2, I(2)), padding=(0, I(1)))": IMAGE,
    "AvgPool2d(I(2), I(2), I(1))": IMAGE,
    "AvgPool2d((I(2), 2), stride=(2, I(2)), padding=(0, I(1)))": IMAGE,
    "AdaptiveAvgPool2d(I(2))": IMAGE,
    "AdaptiveAvgPool2d((I(2), I(3)))": IMAGE,
    "BatchNorm2d(eps=F(1e-4), momentum=np.float32(0.25))": IMAGE,
    "BatchNorm1d(eps=F(1e-4), momentum=F(0.25))": ROW,
    "LayerNorm(eps=F(1e-4))": ROW,
    "Dropout(F(0.3))": ROW,
    "LeakyReLU(F(0.3))": ROW,
    "ELU(F(0.3))": ROW,
    "Reshape((I(2), I(-1)))": ROW,
    "Reshape(np.array([2, 3]))": ROW,
    "MultiHeadAttention(I(2))": SEQUENCE,
    "TransformerEncoderBlock(I(2), hidden=I(5), dropout=F(0.1))": SEQUENCE,
    "Linear(3, init=nn.Constant(F(0.5)), bias_init=nn.Constant(F(-1)))": ROW,
}


@pytest.mark.parametrize("text", LAYERS)
def test_of_a_layer(text, tmp_path):
    layer = eval(text, {**vars(nn), "nn": nn, "np": np, "I": I, "F": F})
    assert "np." not in repr(layer)
    assert repr(build(describe(layer))) == repr(layer) == repr(eval(repr(layer), vars(nn)))
    model = Model(layer, nn.Flatten(), nn.Linear(2), input_shape=LAYERS[text][1:] + LAYERS[text][:1])
    assert "np." not in model.to_code()
    model.save(tmp_path / "model")
    assert repr(load(tmp_path / "model").layers[0]) == repr(layer)


def test_of_an_embedding():
    assert repr(nn.Embedding(I(10), I(4))) == "Embedding(10, 4)"


def test_every_layer_with_a_numeric_setting_is_looked_at():
    seen = {ast.parse(text, mode="eval").body.func.id for text in LAYERS} | {"Embedding"}
    layers = {name for name in nn.__all__ if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Layer)}
    of_layers = {"Residual", "Concatenate", "Sequential"}
    assert {name for name in layers - of_layers if inspect.signature(getattr(nn, name)).parameters} <= seen


def test_a_layer_of_ones_own_and_a_training_of_it():
    class Scaled(nn.Layer):
        def __init__(self, factor, pair=(1, 1)):
            self.factor, self.pair = factor, pair

        def forward(self, x, step=None):
            return x * np.float32(self.factor), lambda dy: dy * np.float32(self.factor)

    layer = Scaled(F(0.5), pair=(I(2), I(3)))
    assert repr(layer) == "Scaled(0.5, pair=(2, 3))"
    model = Model(layer, nn.Dropout(F(0.3)), nn.Linear(2), input_shape=(3,))
    history = model.fit(np.ones((8, 3), np.float32), np.arange(8) % 2, show=False)
    assert len(history.epoch) == 1


def test_a_repr_of_ones_own_with_such_a_number_stops_no_training():
    class Own(nn.ReLU):
        def __repr__(self):
            return "Own(np.float64(0.5))"

    model = Model(Own(), nn.Linear(2), input_shape=(3,))
    assert "Own(np.float64(0.5))" in model.to_code()
    assert len(model.fit(np.ones((8, 3), np.float32), np.arange(8) % 2, show=False).epoch) == 1


def test_of_losses_metrics_schedules_and_optimizers():
    for thing, text in (
        (nn.CrossEntropy(F(0.1)), "CrossEntropy(label_smoothing=0.1)"),
        (nn.Huber(F(2)), "Huber(delta=2.0)"),
        (TopK(I(3)), "TopK(k=3)"),
        (ConfusionMatrix(I(3)), "ConfusionMatrix(classes=3)"),
        (optim.SGD(F(0.1), momentum=np.float32(0.5)), "SGD(lr=0.1, momentum=0.5)"),
        (optim.Adam(F(0.1), betas=(F(0.5), 0.75)), "Adam(lr=0.1, betas=(0.5, 0.75))"),
        (optim.LARS(cosine(F(0.1))), "LARS(lr=cosine(0.1))"),
        (cosine(F(0.1), end=F(0.01)), "cosine(0.1, 0.01)"),
        (warm_up(cosine(F(0.1)), epochs=I(3)), "warm_up(cosine(0.1), 3)"),
        (plateau(F(0.1), patience=I(3)), "plateau(0.1, patience=3)"),
    ):
        assert repr(thing) == text
