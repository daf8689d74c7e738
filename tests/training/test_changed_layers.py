"""What a user changes at layers between two epochs, or two runs, counts as it does where they are asked in every step."""

from unittest import mock

import numpy as np
import pytest

from dtnn import nn
from dtnn.comm import Serial
from dtnn.data import Samples
from dtnn.machine import threads
from dtnn.model import Model
from dtnn.nn.replay import Replay
from dtnn.optim import SGD
from dtnn.records import Epoch, Step
from dtnn.training import train

X = np.random.default_rng(0).random((20, 6, 6, 2), np.float32)
SAMPLES = Samples(X, np.arange(20) % 3)


def made():
    body = nn.Sequential(nn.Conv2d(4, 3, padding=1), nn.BatchNorm2d(), nn.LeakyReLU(0.1), nn.Conv2d(4, 3, padding=1))
    layers = [nn.Conv2d(4, 3, padding=1), nn.ELU(), nn.Residual(body), nn.BatchNorm2d(), nn.MaxPool2d(2), nn.Dropout(0.3)]
    return Model(*layers, nn.Flatten(), nn.LayerNorm(), nn.Linear(8), nn.Linear(3), input_shape=(6, 6, 2))


CONV, ELU, RESIDUAL, NORM, POOL, DROPOUT, LAYER_NORM, LINEAR = 0, 1, 2, 3, 4, 5, 7, 8


def set_at(number, **values):
    """A change of a layer's attributes."""
    return lambda layers: vars(layers[number]).update(values)


def other_padding(layers):
    """As much in all, but on other sides."""
    new = nn.Conv2d(4, 3, padding=1)
    layers[CONV]._window = new._window._replace(padding=(0, 2))


def other_body(layers):
    new = nn.Sequential(nn.Conv2d(4, 1), nn.ReLU())
    new.build((4, 6, 6), np.random.default_rng(1))
    layers[RESIDUAL].body = new


def layer_in_the_list(layers):
    layers[DROPOUT] = nn.Dropout(0.9)


def weight_replaced(layers, change=np.copy, name="value"):
    parameter = layers[LINEAR].weight
    setattr(parameter, name, change(getattr(parameter, name)))


def forward_on_top(layers):
    old = layers[LINEAR].forward

    def doubled(x, step=None, **options):
        y, backward = old(x, step, **options)
        return 2 * y, lambda dy: backward(2 * dy)

    layers[LINEAR].forward = doubled


CHANGES = {
    "rate of dropout": set_at(DROPOUT, rate=0.7),
    "no dropout": set_at(DROPOUT, rate=0),
    "slope": lambda layers: vars(layers[RESIDUAL].body.layers[2]).update(slope=0.9),
    "alpha": set_at(ELU, alpha=0.3),
    "momentum": set_at(NORM, momentum=0.9),
    "eps": set_at(NORM, eps=0.5),
    "eps of a layer norm": set_at(LAYER_NORM, eps=0.5),
    "sync": set_at(NORM, sync=True),
    "algorithm": set_at(CONV, algorithm="im2col"),
    "exact": set_at(CONV, exact=True, algorithm="direct"),
    "padding": other_padding,
    "trainable": set_at(CONV, trainable=False),
    "frozen": lambda layers: vars(layers[LINEAR].weight).update(learns=False),
    "a weight by a copy": weight_replaced,
    "a weight in place": lambda layers: layers[LINEAR].weight.value.fill(0.01),
    "a weight in double precision": lambda layers: weight_replaced(layers, np.float64),
    "a weight in another order": lambda layers: weight_replaced(layers, np.asfortranarray),
    "a gradient by a copy": lambda layers: weight_replaced(layers, name="grad"),
    "a gradient in another order": lambda layers: weight_replaced(layers, np.asfortranarray, "grad"),
    "statistics": lambda layers: setattr(layers[NORM], "running_mean", np.ones(4)),
    "forward": forward_on_top,
    "a mocked forward": lambda layers: setattr(layers[LINEAR], "forward", mock.Mock(wraps=layers[LINEAR].forward)),
}


REFUSED = {
    "another body": (other_body, r"conv2d_2.weight.value was given the shape \(4, 4, 1, 1\), .*make a new model of the layers"),
    "a layer in the list": (layer_in_the_list, r"layer 6, Dropout\(0.9\), was put into a network that is built already: make"),
    "a layer taken out of the list": (lambda layers: layers.pop(DROPOUT), r"layer 6, Dropout\(0.3\), was taken out of a network"),
    "a layer at the end": (lambda layers: layers.append(nn.ReLU()), r"layer 11, ReLU\(\), was put into a network"),
    "another order": (lambda layers: layers.reverse(), "the order of the layers was changed in a network that is built already"),
    "a layer in a body": (
        lambda layers: layers[RESIDUAL].body.layers.pop(),
        r"layer 4, Conv2d\(4, 3, padding=1\), was taken out of",
    ),
    "an array for a weight": (
        lambda layers: vars(layers[LINEAR]).update(weight=np.ones((8, 36))),
        r"linear_1.weight was replaced by ndarray, which nobody trains: write into it, weight.value\[...\] = numbers",
    ),
    "a weight of another shape": (
        lambda layers: weight_replaced(layers, np.ravel),
        r"linear_1.weight.value was given the shape \(288,\), but its layer was built for \(8, 36\)",
    ),
    "statistics of another shape": (
        lambda layers: setattr(layers[NORM], "running_mean", np.ones(5)),
        r"batchnorm2d_2.running_mean was given the shape \(5,\), but its layer was built for \(4,\)",
    ),
}


def told(change, monkeypatch, asked, runs=1):
    """Losses of all steps, the metrics of the epochs, and the weights at the end, of a training with a change in the middle."""
    found, model = [], made()
    with monkeypatch.context() as patch:
        if asked:
            patch.setattr(Replay, "forward", lambda self, x, step: self.net.forward(x, step))
        for run in range(runs):
            settings = dict(optimizer=SGD(0.05), epochs=4 // runs, batch_size=8, validation=SAMPLES)
            for record in train(Serial(), model, SAMPLES, **settings):
                if isinstance(record, Step):
                    found.append(record.loss)
                elif isinstance(record, Epoch):
                    found += record.metrics.values()
                    if runs == 1 and record.epoch == 2:
                        change(model.net.layers)
            if run == 0 and runs > 1:
                change(model.net.layers)
    return found, model.parameters.value.copy(), *model.parameters.buffers.values()


@pytest.mark.parametrize("name", CHANGES)
def test_between_two_epochs(name, monkeypatch):
    for one, other in zip(told(CHANGES[name], monkeypatch, False), told(CHANGES[name], monkeypatch, True)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", CHANGES)
def test_between_two_runs(name, monkeypatch):
    for one, other in zip(told(CHANGES[name], monkeypatch, False, 2), told(CHANGES[name], monkeypatch, True, 2)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("name", REFUSED)
def test_what_would_have_no_effect_is_told_when_the_next_epoch_begins(name, runs, monkeypatch):
    change, text = REFUSED[name]
    with pytest.raises(ValueError, match=text):
        told(change, monkeypatch, False, runs)


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("change", [np.copy, np.float64, np.asfortranarray])
def test_a_weight_that_was_replaced_is_trained_on(change, runs, monkeypatch):
    plain = told(lambda layers: None, monkeypatch, False, runs)
    for one, other in zip(told(lambda layers: weight_replaced(layers, change), monkeypatch, False, runs), plain):
        np.testing.assert_array_equal(one, other)


NO_EFFECT = {"sync", "exact", "trainable", "a mocked forward"}
HARMLESS = {
    name for name in CHANGES if name.startswith(("a weight by", "a weight in double", "a weight in another", "a gradient"))
}


@pytest.mark.parametrize("name", sorted(CHANGES.keys() - NO_EFFECT - HARMLESS))
def test_the_changes_change_something(name, monkeypatch):
    """Else the tests above would show nothing; the others have none by themselves, taped or not."""
    losses, plain = told(CHANGES[name], monkeypatch, True), told(lambda layers: None, monkeypatch, True)
    assert not all(np.array_equal(a, b) for a, b in zip(losses, plain)), name


def test_another_number_of_threads(monkeypatch):
    def run(asked):
        model, losses = made(), []
        with monkeypatch.context() as patch:
            if asked:
                patch.setattr(Replay, "forward", lambda self, x, step: self.net.forward(x, step))
            job = train(Serial(), model, SAMPLES, optimizer=SGD(0.05), epochs=4, batch_size=8)
            for count in (1, 2, 1, 2):
                with threads(count):
                    for record in job:
                        losses += [record.loss] if isinstance(record, Step) else []
                        if isinstance(record, Epoch):
                            break
        return losses

    assert run(False) == run(True)


def test_a_mock_in_the_place_of_a_class_s_forward(monkeypatch):
    """It has none of a function's attributes."""
    monkeypatch.setattr(nn.Linear, "forward", mock.MagicMock())
    assert not Replay(nn.Sequential(nn.Linear(3))).able
