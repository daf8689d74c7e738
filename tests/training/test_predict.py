"""Predictions: the same numbers however many at a time, one's own arrays, any number of threads."""

import threading

import numpy as np
import pytest

import dtnn
from dtnn import Model
from dtnn.data import Samples
from dtnn.nn import BatchNorm2d, Concatenate, Conv2d, Embedding, Flatten, LeakyReLU, Linear, MaxPool2d, ReLU, Sequential
from dtnn.training import predict
from dtnn.training.predict import FEW


def images(count, dtype=np.float32):
    x = np.random.default_rng(count).integers(0, 256, (count, 9, 8, 2))
    return x.astype(np.uint8) if dtype == np.uint8 else (x / 255).astype(dtype)


def network(dtype="float32"):
    return Model(Conv2d(4, 3), ReLU(), MaxPool2d(2), Flatten(), Linear(5), input_shape=(9, 8, 2), dtype=dtype)


@pytest.mark.parametrize("model_type", ["float32", "float64"])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_one_at_a_time_gives_what_all_at_once_give(dtype, model_type):
    model, x = network(model_type), images(70, dtype)
    together = model.predict(x)
    assert together.shape == (70, 5)
    assert together.dtype == model_type
    for size in (1, 7, 16, 33):
        parts = np.concatenate([model.predict(x[start : start + size]) for start in range(0, 70, size)])
        np.testing.assert_allclose(parts, together, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(model.predict(x, batch_size=size), together, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("out", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 5, 40])
def test_few_are_turned_to_the_bits_that_the_kernel_gives(dtype, out, count):
    rows = Samples(images(60, dtype))
    found = rows.turned(3, 3 + count, np.full((2, 9, 8, count), np.nan, out))
    np.testing.assert_array_equal(found, rows.gather_inputs(np.arange(3, 3 + count), dtype=out))


@pytest.mark.parametrize("count", [1, 3, 100])
def test_what_was_predicted_stays(count):
    model, x = network(), images(count)
    first = model.predict(x)
    before = first.copy()
    model.predict(1 - x)
    np.testing.assert_array_equal(first, before)
    assert first.flags.owndata
    assert first.flags.c_contiguous
    first[:] = 0
    np.testing.assert_array_equal(model.predict(x), before)


def test_maps_and_sequences_are_batch_first():
    for count in (1, 4):
        maps = Model(Conv2d(3, 1), input_shape=(4, 5, 2))
        x = np.random.default_rng(0).random((count, 4, 5, 2), np.float32)
        y = maps.predict(x)
        assert y.shape == (count, 4, 5, 3)
        weight, bias = maps.layers[0].weight.value[:, :, 0, 0], maps.layers[0].bias.value
        np.testing.assert_allclose(y, x @ weight.T + bias, atol=1e-6)
        tokens = Model(Embedding(9, 3), input_shape=(4,))
        found = tokens.predict(np.arange(4 * count).reshape(count, 4) % 9)
        assert found.shape == (count, 4, 3)


def test_inputs_that_are_not_plain_are_converted_or_refused_as_ever():
    model, x = network(), images(2)
    expected = model.predict(x)
    np.testing.assert_array_equal(model.predict(np.asfortranarray(x)), expected)
    np.testing.assert_array_equal(model.predict(np.repeat(x, 2, 0)[::2]), expected)
    with pytest.warns(UserWarning, match="x is float64"):
        np.testing.assert_array_equal(model.predict(x.astype(np.float64)), expected)
    spoilt = x.copy()
    spoilt[1, 2, 3, 1] = np.nan
    with pytest.raises(ValueError, match=r"x\[1, 2, 3, 1\] is nan.*np\.nan_to_num\(x\)"):
        model.predict(spoilt)
    with pytest.raises(ValueError, match=r"x has samples of shape \(9, 8\), the model takes \(9, 8, 2\)"):
        model.predict(x[..., 0])
    with pytest.raises(ValueError, match="x is empty"):
        model.predict(x[:0])
    with pytest.raises(TypeError, match="the model begins with Embedding"):
        Model(Embedding(9, 3), input_shape=(4,)).predict(np.ones((1, 4), np.float32))


def test_numbers_whose_squares_overflow_are_finite():
    model = Model(Linear(2, bias=False), input_shape=(3,))
    model.layers[0].weight.value[...] = 1e-30
    large = np.full((2, 3), 1e30, np.float32)
    np.testing.assert_allclose(model.predict(large), 3.0, rtol=1e-6)


def test_new_weights_count_at_once():
    model, x = network(), images(1)
    model.predict(x)
    model.parameters.value[:] = 0
    assert not model.predict(x).any()


def test_whatever_is_changed_counts_at_once():
    """Layers are asked once; not so when they, their weights' arrays or their statistics are others."""
    layers = BatchNorm2d(), LeakyReLU(0.1), Flatten(), Linear(3)
    model, x = Model(*layers, input_shape=(9, 8, 2)), images(2) - np.float32(0.5)

    def check():
        for _ in range(3):
            np.testing.assert_allclose(model.predict(x), fresh(), atol=1e-6)

    def fresh():
        return model.net(np.ascontiguousarray(x.swapaxes(0, -1))).T

    check()
    model.layers[1].slope = 0.9
    check()
    model.layers[0].running_mean[:] = 5
    check()
    model.layers[0].running_var = np.full(2, 9, np.float32)
    check()
    model.layers[3].weight.value = model.layers[3].weight.value.copy() + 1
    check()
    model.fit(images(40), np.arange(40) % 3, epochs=2, show=False)
    check()
    model.layers[0].trainable = False
    model.fit(images(40), np.arange(40) % 3, show=False)  # the vectors are made anew
    check()
    model.load_state_dict(Model(*layers, input_shape=(9, 8, 2), seed=7).state_dict())
    check()


def test_another_branch_in_the_same_list_counts_at_once():
    model, x = Model(Concatenate(Linear(3), Linear(2)), Linear(2), input_shape=4), np.ones((2, 4), np.float32)
    model.predict(x)
    other = Sequential(Linear(3))
    other.build((4,), np.random.default_rng(5))
    model.layers[0].branches[0] = other
    np.testing.assert_array_equal(model.predict(x), model.net(x.T.copy()).T)


def test_each_thread_works_in_memory_of_its_own():
    """Kernels have scratch memory a thread; what one thread wrote down is not done again by another."""
    model, x, found = network(), images(1), []
    expected = model.predict(x)
    before = model.inference.replay.tapes[1]

    def work():
        found.append((model.predict(x), model.inference.replay.tapes[1]))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0][0], expected)
    assert found[0][1] is not before
    np.testing.assert_array_equal(model.predict(x), expected)
    assert model.inference.replay.tapes[1] is not found[0][1]


def test_threads_may_predict_with_one_model_at_once():
    model, x = network(), images(40)
    expected, wrong = model.predict(x), []
    gate = threading.Barrier(4)

    def work(number):
        gate.wait(20)
        for k in range(200):
            n = (7 * k + 11 * number) % 40
            if not np.allclose(model.predict(x[n : n + 1])[0], expected[n], rtol=1e-5, atol=1e-6):
                wrong.append((number, k))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_whoever_finds_the_buffers_in_use_takes_others():
    model, x = network(), images(1)
    expected = model.predict(x)
    with model.inference.lock:
        np.testing.assert_array_equal(model.predict(x), expected)
    assert not model.inference.lock.locked()


def kept(model):
    """Bytes of the buffers that a model keeps."""
    return sum(buffer.memory.nbytes for buffer in model.inference.step._kept or ())


def test_many_samples_leave_no_buffers_behind():
    model = network()
    model.predict(images(FEW))
    few = kept(model)
    assert few > 0
    model.predict(images(20 * FEW))
    assert kept(model) == few
    model.predict(images(3))
    assert kept(model) == few


def test_an_error_frees_the_buffers():
    class Fails(dtnn.nn.Layer):
        on = False

        def forward(self, x, step=None):
            if self.on:
                raise RuntimeError("on purpose")
            return x, lambda dy: dy

    layer = Fails()
    model = Model(layer, input_shape=(3,))
    model.layers[0].on = True
    with pytest.raises(RuntimeError, match="on purpose"):
        model.predict(np.ones((1, 3), np.float32))
    model.layers[0].on = False
    assert (model.predict(np.ones((1, 3), np.float32)) == 1).all()
    assert not model.inference.lock.locked()


def test_anything_with_a_network_and_parameters_predicts():
    class Bare:
        def __init__(self, model):
            self.net, self.parameters = model.net, model.parameters

    model, x = network(), images(3)
    np.testing.assert_array_equal(predict(Bare(model), Samples(x)), model.predict(x))


def test_a_model_whose_parameters_were_laid_out_anew_predicts_with_these():
    model, x = dtnn.zoo.mlp(), np.random.default_rng(0).random((1, 28, 28, 1), np.float32)
    before = predict(model, Samples(x))
    model.layers[1].trainable = False
    model.refresh()
    np.testing.assert_array_equal(predict(model, Samples(x)), before)
    model.parameters.value[:] = 0
    assert not predict(model, Samples(x)).any()
