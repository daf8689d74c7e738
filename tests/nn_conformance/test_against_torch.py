"""Layers, losses and optimizers against PyTorch's, in float64 and float32; where PyTorch is not installed, nothing."""

import numpy as np
import pytest

from dtnn import nn, optim
from dtnn.nn import Parameters, Pass
from dtnn.nn.layer import own_parameters

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is for comparison only")
F = torch.nn.functional


def turned(array):
    """(..., N) to (N, ...) as a tensor, and a tensor back."""
    if isinstance(array, np.ndarray):
        return torch.from_numpy(np.ascontiguousarray(np.moveaxis(array, -1, 0)))
    return np.moveaxis(array.detach().numpy(), 0, -1)


def compared(layer, shape, twin, count=5, dtype=np.float64, positive=False):
    """y, dx and the gradients of `weight` and `bias` of both."""
    rng = np.random.default_rng(0)
    out = layer.build(shape, rng)
    Parameters(layer, dtype)
    x = (rng.uniform(0.1, 0.9, (*shape, count)) if positive else rng.standard_normal((*shape, count))).astype(dtype)
    dy, parameters = rng.standard_normal((*out, count)).astype(dtype), dict(own_parameters(layer))
    for p in parameters.values():
        p.value[...] += 0.1 * rng.standard_normal(p.value.shape)
    theirs = {name: torch.from_numpy(p.value.copy()).requires_grad_() for name, p in parameters.items()}
    x_t = turned(x).requires_grad_()
    y_t = twin(x_t, **theirs)
    y_t.backward(turned(dy))
    y, backward = layer.forward(x.copy(), Pass())
    close(y, turned(y_t), dtype)
    close(backward(dy.copy()), turned(x_t.grad), dtype)
    for name, p in parameters.items():
        close(p.grad, theirs[name].grad.numpy(), dtype)


def close(found, expected, dtype):
    assert found.shape == expected.shape
    limit = 1e-10 if dtype == np.float64 else 1e-4
    assert np.abs(found - expected).max(initial=0) <= limit * max(1, np.abs(expected).max(initial=0))


def drawn(seed):
    """A convolution of random geometry: (settings of both, shape)."""
    rng = np.random.default_rng(seed)
    groups = int(rng.choice([1, 1, 2, 3]))
    inner, outer = groups * int(rng.integers(1, 7)), groups * int(rng.integers(1, 10))
    kernel, stride, padding, dilation = (
        tuple(int(v) for v in rng.integers(a, b, 2)) for a, b in ((1, 5), (1, 4), (0, 3), (1, 3))
    )
    height, width = (int((k - 1) * d + 1 + rng.integers(0, 9)) for k, d in zip(kernel, dilation))
    settings = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
    return outer, kernel, settings, (inner, height, width), int(rng.integers(1, 34)), bool(rng.integers(0, 2))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_convolutions_of_any_geometry(seed, dtype):
    outer, kernel, settings, shape, count, bias = drawn(seed)
    layer = nn.Conv2d(outer, kernel, bias=bias, **settings)
    compared(layer, shape, lambda x, weight, bias=None: F.conv2d(x, weight, bias, **settings), count, dtype)


@pytest.mark.parametrize("seed", range(8))
def test_winograd_at_any_size(seed):
    rng = np.random.default_rng(seed)
    inner, outer, height, width, count = (int(v) for v in rng.integers((1, 1, 3, 3, 1), (40, 40, 14, 14, 40)))
    layer = nn.Conv2d(outer, 3, padding=1, algorithm="winograd")
    compared(layer, (inner, height, width), lambda x, weight, bias: F.conv2d(x, weight, bias, padding=1), count, np.float32)


POOLS = [
    (nn.MaxPool2d(2), lambda x: F.max_pool2d(x, 2)),
    (nn.MaxPool2d(3, 2, 1), lambda x: F.max_pool2d(x, 3, 2, 1)),
    (nn.MaxPool2d(3, 2, 1, ceil_mode=True), lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True)),
    (nn.MaxPool2d((2, 3), (1, 2)), lambda x: F.max_pool2d(x, (2, 3), (1, 2))),
    (nn.AvgPool2d(3, 2, 1), lambda x: F.avg_pool2d(x, 3, 2, 1)),
    (nn.AvgPool2d(3, 2, 1, ceil_mode=True), lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True)),
    (nn.AvgPool2d(3, 2, 1, count_include_pad=False), lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)),
    (
        nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False),
        lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    ),
    (nn.AdaptiveAvgPool2d((3, 5)), lambda x: F.adaptive_avg_pool2d(x, (3, 5))),
    (nn.GlobalAvgPool2d(), lambda x: x.mean((2, 3))),
]


@pytest.mark.parametrize(("layer", "twin"), POOLS, ids=[repr(layer) for layer, _ in POOLS])
@pytest.mark.parametrize("shape", [(3, 7, 8), (2, 8, 6)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pooling(layer, twin, shape, dtype):
    compared(layer, shape, twin, 18, dtype)


ACTIVATIONS = [
    (nn.ReLU(), F.relu),
    (nn.LeakyReLU(0.2), lambda x: F.leaky_relu(x, 0.2)),
    (nn.ELU(1.5), lambda x: F.elu(x, 1.5)),
    (nn.GELU(), F.gelu),
    (nn.SiLU(), F.silu),
    (nn.Sigmoid(), torch.sigmoid),
    (nn.Tanh(), torch.tanh),
    (nn.Arctanh(), torch.arctanh),
    (nn.Log(), torch.log),
    (nn.Softmax(), lambda x: torch.softmax(x, 1)),
    (nn.LogSoftmax(), lambda x: torch.log_softmax(x, 1)),
]


@pytest.mark.parametrize(("layer", "twin"), ACTIVATIONS, ids=[repr(layer) for layer, _ in ACTIVATIONS])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activations(layer, twin, dtype):
    compared(layer, (6, 3), twin, 18, dtype, positive=isinstance(layer, nn.Log | nn.Arctanh))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normalisation_and_dense(dtype):
    def batch_norm(x, weight, bias):
        return F.batch_norm(x, None, None, weight, bias, training=True)

    compared(nn.BatchNorm2d(), (3, 4, 5), batch_norm, 18, dtype)
    compared(nn.BatchNorm1d(), (6, 3), batch_norm, 18, dtype)
    compared(nn.BatchNorm1d(), (6,), batch_norm, 18, dtype)
    compared(nn.Linear(7), (5,), F.linear, 18, dtype)
    compared(nn.LayerNorm(), (6,), lambda x, weight, bias: F.layer_norm(x, (6,), weight, bias), 18, dtype)


def test_running_statistics():
    layer, theirs = nn.BatchNorm2d(), torch.nn.BatchNorm2d(3, dtype=torch.float64)
    layer.build((3, 4, 5), None)
    Parameters(layer, np.float64)
    for seed in range(3):
        x = np.random.default_rng(seed).standard_normal((3, 4, 5, 6)) * 2 + 1
        layer.forward(x, Pass())
        theirs(turned(x))
    np.testing.assert_allclose(layer.running_mean, theirs.running_mean.numpy(), rtol=1e-12)
    np.testing.assert_allclose(layer.running_var, theirs.running_var.numpy(), rtol=1e-12)
    np.testing.assert_allclose(layer(x), turned(theirs.eval()(turned(x))), rtol=1e-10)


def test_attention():
    layer, theirs = nn.MultiHeadAttention(2), torch.nn.MultiheadAttention(6, 2, batch_first=True, dtype=torch.float64)
    layer.build((6, 5), np.random.default_rng(0))
    Parameters(layer, np.float64)
    pairs = [
        (theirs.in_proj_weight, layer.project.weight), (theirs.in_proj_bias, layer.project.bias),
        (theirs.out_proj.weight, layer.join.weight), (theirs.out_proj.bias, layer.join.bias),
    ]  # fmt: skip
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for mine, own in pairs:
            own.value[...] += 0.1 * rng.standard_normal(own.value.shape)
            mine.copy_(torch.from_numpy(own.value.copy()))
    x, dy = rng.standard_normal((2, 6, 5, 3))
    tokens_last = torch.from_numpy(np.ascontiguousarray(x.transpose(2, 1, 0))).requires_grad_()  # (N, T, D)
    y, backward = layer.forward(x.copy(), Pass())
    expected = theirs(tokens_last, tokens_last, tokens_last, need_weights=False)[0]
    expected.backward(torch.from_numpy(np.ascontiguousarray(dy.transpose(2, 1, 0))))
    np.testing.assert_allclose(y, expected.detach().numpy().transpose(2, 1, 0), atol=1e-12)
    np.testing.assert_allclose(backward(dy.copy()), tokens_last.grad.numpy().transpose(2, 1, 0), atol=1e-12)
    for mine, own in pairs:
        np.testing.assert_allclose(own.grad, mine.grad.numpy(), atol=1e-12)


LOSSES = [
    (nn.cross_entropy, lambda z, t: F.cross_entropy(z, t)),
    (nn.CrossEntropy(0.1), lambda z, t: F.cross_entropy(z, t, label_smoothing=0.1)),
    (nn.mse, F.mse_loss),
    (nn.mae, F.l1_loss),
    (nn.huber, F.huber_loss),
    (nn.Huber(0.3), lambda z, t: F.huber_loss(z, t, delta=0.3)),
    (nn.binary_cross_entropy, F.binary_cross_entropy_with_logits),
]


@pytest.mark.parametrize(("loss", "twin"), LOSSES, ids=lambda value: getattr(value, "__name__", repr(value)))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_losses(loss, twin, dtype):
    rng = np.random.default_rng(0)
    z = (3 * rng.standard_normal((4, 19))).astype(dtype)
    labels = getattr(loss, "takes_labels", False)
    targets = rng.integers(0, 4, 19) if labels else rng.random((19, 4)).astype(dtype)
    z_t = turned(z).requires_grad_()
    expected = twin(z_t, torch.from_numpy(targets))
    expected.backward()
    total, d = loss(z, targets)
    limit = 1e-12 if dtype == np.float64 else 1e-6
    assert total / 19 == pytest.approx(float(expected.detach()), rel=limit)
    np.testing.assert_allclose(d, turned(z_t.grad), atol=limit)


OPTIMIZERS = [
    (optim.SGD(0.1), lambda p: torch.optim.SGD(p, 0.1)),
    (optim.SGD(0.1, momentum=0.9, weight_decay=0.1, decay_all=True), lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.1)),
    (optim.SGD(0.1, momentum=0.9, nesterov=True), lambda p: torch.optim.SGD(p, 0.1, 0.9, nesterov=True)),
    (optim.Adam(0.01), lambda p: torch.optim.Adam(p, 0.01)),
    (optim.Adam(0.01, weight_decay=0.1, decay_all=True), lambda p: torch.optim.Adam(p, 0.01, weight_decay=0.1)),
    (optim.AdamW(0.01, decay_all=True), lambda p: torch.optim.AdamW(p, 0.01)),
    (optim.Nadam(0.01), lambda p: torch.optim.NAdam(p, 0.01)),
    (optim.RMSProp(0.01), lambda p: torch.optim.RMSprop(p, 0.01)),
    (
        optim.RMSProp(0.01, momentum=0.9, centered=True),
        lambda p: torch.optim.RMSprop(p, 0.01, momentum=0.9, centered=True),
    ),
    (optim.Adagrad(0.1), lambda p: torch.optim.Adagrad(p, 0.1)),
    (optim.SGD(0.1, clip_norm=0.5), lambda p: torch.optim.SGD(p, 0.1)),
]


@pytest.mark.parametrize(("optimizer", "make"), OPTIMIZERS, ids=[repr(optimizer) for optimizer, _ in OPTIMIZERS])
def test_optimizers(optimizer, make):
    layer, rng = nn.Linear(4), np.random.default_rng(0)
    layer.build((3,), rng)
    parameters = Parameters(layer, np.float64)
    own = [layer.weight, layer.bias]
    theirs = [torch.from_numpy(p.value.copy()).requires_grad_() for p in own]
    state, other = optimizer.state(parameters), make(theirs)
    for step in range(1, 8):
        for p, t in zip(own, theirs):
            p.grad[...] = rng.standard_normal(p.grad.shape)
            t.grad = torch.from_numpy(p.grad.copy())
        if optimizer.clip_norm:
            torch.nn.utils.clip_grad_norm_(theirs, optimizer.clip_norm)
        optimizer.update(parameters, state, optim.Progress(step=step, epoch=0.0))
        other.step()
    # PyTorch adds 1e-6 to the norm, and keeps Nadam's product of momenta in float32
    limit = 1e-5 if optimizer.clip_norm else 1e-8 if isinstance(optimizer, optim.Nadam) else 1e-10
    for p, t in zip(own, theirs):
        np.testing.assert_allclose(p.value, t.detach().numpy(), rtol=limit, atol=limit)
