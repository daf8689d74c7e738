"""Numbers that leave the finite ones: nothing of the step is left behind, and the innermost place is named."""

import math

import numpy as np
import pytest

from dtnn import Model, optim, zoo
from dtnn.comm import Serial, run_threads
from dtnn.data import Samples
from dtnn.nn import (
    BatchNorm1d,
    BatchNorm2d,
    Concatenate,
    Conv2d,
    Flatten,
    Layer,
    Linear,
    MultiHeadAttention,
    ReLU,
    Residual,
    Sequential,
    TransformerEncoderBlock,
)
from dtnn.nn.tree import named_layers
from dtnn.parallel import Accumulate, AllReduce, LocalSGD, Sharded
from dtnn.records import Epoch, Step
from dtnn.training import NotFinite, train


def plain(**settings):
    return Model(Linear(8), BatchNorm1d(**settings), ReLU(), Linear(3), input_shape=(4,), seed=0)


def within_a_residual(**settings):
    inner = Sequential(Linear(8), BatchNorm1d(**settings), ReLU(), Linear(8), BatchNorm1d(**settings))
    return Model(Linear(8), Residual(inner), ReLU(), Linear(3), input_shape=(4,), seed=0)


def rows(spoilt=None, count=40):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((count, 4)).astype(np.float32)
    y = (x[:, 0] > 0) + (x[:, 1] > 0).astype(int)
    if spoilt is not None:
        x[:, 2] = spoilt  # where it is, any step meets one
    return Samples(x, y)


def state(model):
    return {name: np.copy(array) for name, array in model.parameters.state().items()}


def failing(comm, model, data, **settings):
    """The state before the step that fails, and after."""
    before = None
    try:
        for record in train(comm, model, data, batch_size=8, **settings):
            if isinstance(record, Step):
                before = state(model)
    except NotFinite as error:
        return before, state(model), error
    raise AssertionError("all numbers were finite")


class Spoilt(Layer):
    """From step 3 on one number, of one rank, is as large as asked for; a finite one, from which a variance is not."""

    def __init__(self, value, here=True):
        self.value, self.here = value, here

    def forward(self, x, step=None):
        if step.training and step.number >= 3 and self.here:
            x = x.copy()
            x[:, 0] = self.value
        return x, lambda dy: dy


@pytest.mark.parametrize("value", [1e30, 3e19, np.nan, np.inf])
@pytest.mark.parametrize("make", [plain, within_a_residual])
def test_running_statistics_are_those_before_the_step(make, value):
    model = make()
    spoilt = Model(Spoilt(np.float32(value)), *model.layers, input_shape=(4,))
    before, after, error = failing(Serial(), spoilt, rows())
    assert error.step == 3
    assert before.keys() == after.keys()
    for name in before:
        np.testing.assert_array_equal(before[name], after[name], err_msg=name)
        assert np.isfinite(after[name]).all()
    spoilt.layers[0].here = False
    told = list(train(Serial(), spoilt, rows(), validation=rows(), epochs=15, batch_size=8, optimizer=optim.SGD(0.1)))
    last = [record for record in told if isinstance(record, Epoch)][-1]
    assert last.metrics["val_accuracy"] > 0.8


@pytest.mark.parametrize("strategy", [AllReduce(), AllReduce(overlap=True), Accumulate(2), Sharded(), LocalSGD(2)], ids=repr)
@pytest.mark.parametrize("sync", [False, True])
def test_on_all_ranks(strategy, sync):
    if sync and not isinstance(strategy, AllReduce):
        pytest.skip("its ranks take their steps apart, or statistics are those of pieces")

    def job(comm):
        layers = within_a_residual(sync=sync).layers
        model = Model(Spoilt(np.float32(1e30), comm.rank == 1), *layers, input_shape=(4,))
        return failing(comm, model, rows(), strategy=strategy)

    for before, after, error in run_threads(job, 3):
        assert error.step == 3
        for name in before:
            np.testing.assert_array_equal(before[name], after[name], err_msg=name)


def test_where_only_a_gradient_is_not_finite():
    class Backward(Layer):
        def forward(self, x, step=None):
            return x, lambda dy: dy * np.float32(math.nan if step.number == 3 else 1)

    model = Model(Linear(8), BatchNorm1d(), Backward(), Linear(3), input_shape=(4,))
    before, after, error = failing(Serial(), model, rows())
    assert error.layer == "the gradient of batchnorm1d_1.bias"
    for name in before:
        np.testing.assert_array_equal(before[name], after[name], err_msg=name)


def test_backward_broke_behind_the_last_layer_whose_gradient_is_not_finite():
    class Backward(Layer):
        def forward(self, x, step=None):
            return x, lambda dy: dy * np.float32(math.nan)

    model = Model(Linear(4), Linear(4), Backward(), Linear(3), input_shape=(4,))
    assert failing(Serial(), model, rows())[2].layer == "the gradient of linear_2.bias"


@pytest.mark.parametrize("phases", [False, True])
@pytest.mark.parametrize("bad", [0, 5, 23])
def test_whichever_micro_batch_it_was_in(bad, phases):
    x, y = rows(count=24).x.copy(), rows(count=24).y
    x[bad] = 3e38
    model = Model(Linear(8), Linear(8), ReLU(), Linear(3), input_shape=(4,), seed=1)
    error = failing(Serial(), model, Samples(x, y), strategy=Accumulate(4), phases=phases)[2]
    assert error.layer == "the output of linear_1"


class Infinite(Layer):
    def forward(self, x, step=None):
        return x + np.float32(np.inf if step.number else 0), lambda dy: dy


class Own(Layer):
    """A layer of one's own that calls layers of its own."""

    def __init__(self):
        self.first, self.second = Linear(4), Infinite()

    def build(self, shape, rng):
        return self.second.build(self.first.build(shape, rng), rng)

    def forward(self, x, step=None):
        y, back = self.first.forward(x, step)
        z, back_again = self.second.forward(y, step)
        return z, lambda dz: back(back_again(dz))


NESTED = {
    "residual_1.body.infinite_1": Residual(Sequential(Linear(4), Infinite(), Linear(4))),
    "residual_1.shortcut.infinite_1": Residual(Sequential(Linear(4), ReLU()), Sequential(Infinite(), Linear(4))),
    "concatenate_1.sequential_2.infinite_1": Concatenate(Linear(4), Sequential(Linear(4), Infinite())),
    "residual_1.body.residual_2.body.infinite_1": Residual(Residual(Sequential(Linear(4), Infinite()))),
    "own_1.second": Own(),
}


@pytest.mark.parametrize("name", NESTED)
def test_the_innermost_layer_is_named(name):
    model = Model(Linear(4), NESTED[name], Linear(3), input_shape=(4,))
    for error in (failing(Serial(), model, rows())[2], *run_threads(lambda comm: failing(comm, model, rows())[2], 1)):
        assert error.layer == f"the output of {name}"
    assert not any("forward" in vars(layer) for _, layer, _ in named_layers(model.net))


def test_the_convolution_in_a_resnet_is_named():
    model = zoo.resnet20()
    inner = model.layers[5].body.layers[3]
    assert isinstance(inner, Conv2d)
    inner.weight.value[0, 0, 0, 0] = np.nan
    x = np.random.default_rng(0).random((8, 32, 32, 3), np.float32)
    error = failing(Serial(), model, Samples(x, np.arange(8)), epochs=1)[2]
    names = {id(segment): segment.name for segment, parameter in model.parameters.moved if parameter is inner.weight}
    assert error.layer == f"the output of {next(iter(names.values())).removesuffix('.weight')}"
    assert error.layer.count(".") == 2


def test_the_product_in_an_attention_is_named():
    block = TransformerEncoderBlock(2)
    model = Model(block, Flatten(), Linear(3), input_shape=(5, 4))
    attention = block.attention.body.layers[1]
    assert isinstance(attention, MultiHeadAttention)
    attention.project.weight.value[0, 0] = np.inf
    x = np.random.default_rng(0).random((8, 5, 4), np.float32)
    error = failing(Serial(), model, Samples(x, np.arange(8) % 3), epochs=1)[2]
    assert error.layer.endswith("multiheadattention_1.project")


def test_a_layer_that_looks_finite_after_an_infinite_variance():
    """(x - mean) / infinity is 0, which would hide that the running variance is infinite for ever."""
    layer = BatchNorm2d()
    layer.build((2, 1, 1), None)
    x = np.zeros((2, 1, 1, 8), np.float32)
    x[1, ..., 0] = 3e19
    y, _ = layer.forward(x)
    assert np.isfinite(y[0]).all()
    assert np.isnan(y[1]).all()
