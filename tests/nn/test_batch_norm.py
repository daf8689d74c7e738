"""BatchNorm: PyTorch's statistics, gradients, the sum and ReLU in its pass, statistics of all ranks."""

import threading

import numpy as np
import pytest

from dtnn.nn import BatchNorm1d, BatchNorm2d, Pass
from tests.nn.checks import agree, build, check_gradients, gradients


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_statistics(dtype):  # case 63
    layer, _ = build(BatchNorm1d(momentum=1), (4,), dtype)
    x = np.array([[2, 15, 2, 1], [2, 17, 2, 1], [-4, -2, -2, -1]], dtype).T.copy()
    y, _ = layer.forward(x)
    np.testing.assert_allclose(layer.running_mean, [0, 10, 2 / 3, 1 / 3], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(layer.running_var, [12, 109, 16 / 3, 4 / 3], rtol=1e-6)
    np.testing.assert_allclose(y[1], [0.58655, 0.82116, -1.40771], atol=1e-5)
    np.testing.assert_allclose(y.std(1), [1] * 4, rtol=1e-4)
    np.testing.assert_allclose(layer(x)[1], (x[1] - 10) / np.sqrt(109 + 1e-5), rtol=1e-5)
    assert y.dtype == dtype


@pytest.mark.parametrize("options", [{}, {"relu": True}])
def test_gradients(options):
    check_gradients(BatchNorm2d(), (3, 4, 5), 6, **options)
    check_gradients(BatchNorm2d(sync=True), (3, 4, 5), 6, **options)
    check_gradients(BatchNorm1d(), (5,), 6, **options)
    check_gradients(BatchNorm1d(), (5, 3), 6, **options)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("sync", [False, True])
def test_with_a_sum(relu, sync):
    rng = np.random.default_rng(0)
    layer, _ = build(BatchNorm2d(sync=sync), (3, 4, 5))
    x, side, dy = (rng.standard_normal((3, 4, 5, 6)) for _ in range(3))
    y, backward = layer.forward(x, Pass(), relu=relu, added=side)
    plain, plain_backward = layer.forward(x, Pass())
    total = plain + side
    np.testing.assert_allclose(y, np.maximum(total, 0) if relu else total)
    masked = np.where(total > 0, dy, 0) if relu else dy
    d = dy.copy()
    dx = backward(d)
    np.testing.assert_array_equal(d, masked)  # is now the gradient of the side
    np.testing.assert_allclose(dx, plain_backward(masked.copy()), atol=1e-12)


@pytest.mark.parametrize("count", [2, 7, 16, 33, 64])
def test_float32_agrees(count):
    for options in ({}, {"relu": True}):
        agree(BatchNorm2d(), (5, 6, 7), count, **options)


def test_a_mean_far_from_zero_loses_nothing():
    layer, _ = build(BatchNorm2d(), (2, 8, 8), np.float32)
    x = (1000 + np.random.default_rng(0).standard_normal((2, 8, 8, 64))).astype(np.float32)
    y, _ = layer.forward(x)
    np.testing.assert_allclose(y.std((1, 2, 3)), 1, rtol=1e-3)
    np.testing.assert_allclose(layer.running_var, 0.9 + 0.1 * x.astype(float).var((1, 2, 3)), rtol=1e-3)


class Sum:
    """Sums arrays of several threads, in place; all must come."""

    def __init__(self, size):
        self.arrays, self.barrier = [], threading.Barrier(size)

    def __call__(self, array):
        self.arrays.append(array.copy())
        self.barrier.wait(20)
        total = np.sum(self.arrays, 0)
        self.barrier.wait(20)
        self.arrays.clear()
        array[...] = total
        self.barrier.wait(20)


def test_statistics_of_all_ranks_are_those_of_one():
    rng = np.random.default_rng(0)
    x, dy = rng.standard_normal((2, 3, 4, 3, 10))
    one, _ = build(BatchNorm2d(sync=True), (3, 4, 3))
    y, dx, grads = gradients(one, x, dy)
    parts, total, found = [(0, 6), (6, 4), (10, 0)], Sum(3), [None] * 3  # the last rank has no samples

    def rank(r):
        first, count = parts[r]
        layer, _ = build(BatchNorm2d(sync=True), (3, 4, 3))
        step = Pass()
        step.begin(0, first, count, 10, sum_over_ranks=total)
        part = np.ascontiguousarray(x[..., first : first + count])
        z, backward = layer.forward(part, step)
        d = backward(np.ascontiguousarray(dy[..., first : first + count]))
        found[r] = z.copy(), d.copy(), layer.weight.grad.copy(), layer.bias.grad.copy(), layer.running_var.copy()

    threads = [threading.Thread(target=rank, args=(r,)) for r in range(3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    np.testing.assert_allclose(np.concatenate([f[0] for f in found], -1), y, atol=1e-12)
    np.testing.assert_allclose(np.concatenate([f[1] for f in found], -1), dx, atol=1e-12)
    np.testing.assert_allclose(sum(f[2] for f in found), grads["weight"], atol=1e-11)
    np.testing.assert_allclose(sum(f[3] for f in found), grads["bias"], atol=1e-11)
    for f in found:
        np.testing.assert_allclose(f[4], one.running_var, rtol=1e-12)


def test_no_samples_leave_the_running_statistics():
    layer, _ = build(BatchNorm1d(), (3,))
    y, backward = layer.forward(np.zeros((3, 0)))
    assert backward(y).shape == (3, 0)
    assert (layer.running_var == 1).all()


def test_errors():
    with pytest.raises(ValueError, match=r"BatchNorm2d\(\) takes samples of shape \(C, H, W\), but gets \(5,\); use BatchNorm1d"):
        BatchNorm2d().build((5,), None)
    with pytest.raises(ValueError, match=r"BatchNorm1d\(\) takes .* gets \(1, 2, 3\); use BatchNorm2d"):
        BatchNorm1d().build((1, 2, 3), None)
    with pytest.raises(ValueError, match=r"BatchNorm2d: momentum is 2; it must be a number in \[0, 1\]"):
        BatchNorm2d(momentum=2)
    assert repr(BatchNorm2d(momentum=0.2)) == "BatchNorm2d(momentum=0.2)"
