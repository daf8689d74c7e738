"""What `Sequential` does in one pass gives the numbers of one layer after the other, for every network of the zoo."""

import numpy as np
import pytest

from dtnn import zoo
from dtnn.nn import Pass, Sequential, cross_entropy
from dtnn.nn.tree import named_layers


def apart(net):
    """Every layer by itself."""
    for sequence in [net, *(layer for _, layer, _ in named_layers(net) if isinstance(layer, Sequential))]:
        sequence._plan = [(layer, {}) for layer in sequence.layers]


LARGE = "alexnet", "resnet20", "vgg11"


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name for name in zoo.__all__])
def test_a_fused_and_an_unfused_network_give_the_same_numbers(name, monkeypatch):
    rng = np.random.default_rng(0)
    fused, unfused = getattr(zoo, name)(), getattr(zoo, name)()
    height, width, channels = fused.input_shape
    x, labels, found = rng.random((channels, height, width, 6), np.float32), rng.integers(0, 10, 6), []
    for model in (fused, unfused):
        if model is unfused:
            apart(model.net)
            monkeypatch.setattr(Sequential, "takes", lambda self, option: False)
        y, backward = model.net.forward(x, Pass())
        loss, d = cross_entropy(y, labels)
        backward(d)
        found.append((loss, model.parameters.grad.copy(), model.net(x).copy()))
    (loss, grad, y), (loss_apart, grad_apart, y_apart) = found
    assert loss == pytest.approx(loss_apart, rel=1e-5)
    for segment in fused.parameters.segments:
        place = slice(segment.start, segment.start + segment.size)
        scale = max(np.abs(grad_apart[place]).max(), 1e-3 * np.abs(grad_apart).max())
        assert np.abs(grad[place] - grad_apart[place]).max() <= 1e-3 * scale, segment.name
    np.testing.assert_allclose(y, y_apart, atol=1e-4 * np.abs(y_apart).max())
