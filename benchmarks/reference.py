"""What networks should give: dtnn's plain path in float64, with products by NumPy, and the update as it stands in the textbook.

It is always there, PyTorch or not, and shares neither kernels nor `train`, its tape or an optimizer with what is measured.
"""

import numpy as np

import dtnn
from dtnn.nn import Conv2d, Dropout, Pass, cross_entropy
from dtnn.nn.tree import named_layers

RATE = 1e-3  # of checks: three steps change the loss by far more than rounding does
LOSS, WEIGHTS = 4e-4, 0.05  # relative; weights: of what the first step changed them by


def checkable(name):
    """A network of the zoo without dropout, which every library draws otherwise."""
    model = getattr(dtnn.zoo, name)()
    for _, layer, _ in named_layers(model.net):
        if isinstance(layer, Dropout):
            layer.rate = 0
    return model


def exact(model):
    """The same network with the same weights in float64."""
    twin = dtnn.Model(*model.layers, input_shape=model.input_shape, dtype="float64")
    for _, layer, _ in named_layers(twin.net):
        if isinstance(layer, Conv2d):
            layer.algorithm = "im2col"
    return twin


def exact_steps(model, x, y, count, rate=RATE, momentum=0.9):
    """Losses and weights of some steps on one mini-batch.

    Returns
    -------
    list of float
        The loss before each update.
    list of dict
        {name: weights} at the beginning and after the first update.
    """
    twin, step = exact(model), Pass()
    inputs, velocity = np.ascontiguousarray(np.moveaxis(x, (0, 3), (3, 0)), float), 0
    losses, weights = [], [by_name(twin)]
    for number in range(count):
        step.begin(number, 0, len(x), len(x), x=inputs)
        outputs, backward = twin.net.forward(inputs, step)
        total, slope = cross_entropy(outputs, y)
        twin.parameters.grad[...] = 0
        backward(slope)
        velocity = momentum * velocity + twin.parameters.grad
        twin.parameters.value -= rate * velocity
        losses.append(total / len(x))
        if number == 0:
            weights.append(by_name(twin))
    return losses, weights


def by_name(model):
    """{name: a copy of each parameter}"""
    value = model.parameters.value
    return {s.name: value[s.start : s.start + s.size].astype(float) for s in model.parameters.segments}


def assert_losses(name, who, found, right):
    """AssertionError if losses are others, or if they are right only because nothing is learnt."""
    if abs(right[-1] - right[0]) < 20 * LOSS * right[0]:
        raise AssertionError(f"{name}: the loss hardly moves ({right}), so that it proves nothing")
    if not np.allclose(found, right, rtol=LOSS):
        raise AssertionError(f"{name}: the losses of {who} are {found}, and should be {right}")


def assert_changes(name, found, before, right):
    """AssertionError unless each parameter was changed as it should be; a few that hardly change by rounding only."""
    least = 0.01 * max(np.linalg.norm(right[key] - before[key]) for key in right)
    for key, weights in found.items():
        error, change = np.linalg.norm(weights - right[key]), np.linalg.norm(right[key] - before[key])
        if not error <= WEIGHTS * max(change, least):
            raise AssertionError(f"{name}: {key} is wrong by {error:.2g} after a step that should change it by {change:.2g}")
