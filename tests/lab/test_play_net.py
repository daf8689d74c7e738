"""What the playground draws is what its model says."""

import numpy as np
import pytest

from dtnn.data import toy2d
from dtnn.lab.pairs import PAIRS
from dtnn.lab.play_net import PlayNet
from dtnn.lab.thinned import Thinned

NETS = [PlayNet(), PlayNet((4,)), PlayNet((16, 16)), *(PlayNet(pair=pair) for pair in PAIRS.values())]


def numbers(model):
    return np.concatenate([array.reshape(-1) for array in model.parameters.state().values()])


@pytest.mark.parametrize("net", NETS, ids=lambda net: repr(net).partition(" at 0x")[0])
def test_its_numbers_are_the_models(net):
    data = toy2d.spiral(50, noise=0.2)
    models = [net.model(seed) for seed in (1, 2)]
    for model in models:  # a bias that starts at zero would hide that it is forgotten
        model.parameters.value[: model.parameters.trainable] += 0.1
    inputs, weights = net.inputs(data.x_train), np.stack([numbers(model) for model in models])
    said = np.stack([model.predict(inputs) for model in models])
    margins = said[..., 0] if net.pair else said[..., 1] - said[..., 0]
    assert np.allclose(net.margins(inputs, weights), margins, atol=1e-5)
    losses = [net.loss(np.ascontiguousarray(one.T), data.y_train)[0] / 50 for one in said]
    assert net.losses(inputs, data.y_train, weights) == pytest.approx(losses, rel=1e-5)
    assert np.allclose(net.outputs(inputs, weights), 1 / (1 + np.exp(-margins)), atol=1e-5)


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_tells_the_classes_apart(name):
    data = getattr(toy2d, name)()
    numbers = PAIRS[name].of(data.x_train.astype(float))
    middles = np.stack([numbers[data.y_train == k].mean(0) for k in (0, 1)])
    assert np.linalg.norm(middles[1] - middles[0]) > 0.4


def test_what_comes_step_by_step_takes_no_more_room():
    kept = Thinned(100)
    for number in range(10_000):
        kept.append(np.array([number, -number]))
    assert len(kept.values) < 100
    assert kept.steps[-1] <= 10_000
    middle = kept.values[3][0]
    assert kept.steps[3] - kept.width <= middle <= kept.steps[3], "the mean of its steps"
    assert kept.last.tolist() == [9999, -9999]
