"""Winograd against the six loops: any image, padding and batch; with few tiles and many filters, too."""

import numpy as np
import pytest

from dtnn import machine
from dtnn.kernels import conv_plain, conv_winograd, parts, winograd_few
from dtnn.kernels.conv_plan import Window
from tests.kernels.test_conv_direct import difference, random, spoil

BATCHES = [1, 2, 7, 15, 16, 17, 33, 64, 70]


def check(rng, C, H, W, N, M):
    relu, window = bool(rng.integers(2)), Window(padding=tuple(int(p) for p in rng.integers(0, 4, 2)))
    size = [n + 2 * p - 2 for n, p in zip((H, W), window.padding)]
    x, w, b = random(rng, C, H, W, N), random(rng, M, C, 3, 3), random(rng, M)
    x8, w8, b8 = (a.astype(float) for a in (x, w, b))
    spoil()
    y, y8 = np.full((M, *size, N), np.nan, np.float32), np.empty((M, *size, N))
    conv_winograd.forward(x, w, b, y, window, relu)
    conv_plain.forward(x8, w8, b8, y8, window, relu)
    assert difference(y, y8) < 3e-5
    dy, dw, db = random(rng, M, *size, N), random(rng, M, C, 3, 3), random(rng, M)
    dy8, dw8, db8 = (a.astype(float) for a in (dy, dw, db))
    conv_winograd.filter_gradient(x, dy, y if relu else None, dw, db, window)
    conv_plain.filter_gradient(x8, dy8, y.astype(float) if relu else None, dw8, db8, window)
    assert difference(dw, dw8) < 1e-4
    assert difference(db, db8) < 1e-4
    np.testing.assert_array_equal(dy, dy8)
    for adds in (False, True):
        dx = random(rng, C, H, W, N) if adds else np.full((C, H, W, N), np.nan, np.float32)
        dx8 = dx.astype(float)
        conv_winograd.data_gradient(dy, w, dx, window, adds)
        conv_plain.data_gradient(dy8, w8, dx8, window, adds)
        assert difference(dx, dx8) < 3e-5


@pytest.mark.parametrize("seed", range(16))
def test_random_shapes(seed):
    rng = np.random.default_rng(seed)
    C, M = rng.integers(1, 40, 2)
    check(rng, C, *rng.integers(3, 14, 2), int(rng.choice(BATCHES)), M)


@pytest.mark.parametrize("seed", range(16))
def test_few_tiles_and_many_filters(seed, monkeypatch):
    """On one thread and on two: blocks of output channels, any number of them, the last one smaller."""
    used, product, rng = [], winograd_few.run_product, np.random.default_rng(seed)
    monkeypatch.setattr(winograd_few, "LEAST_FILTERS", 0)
    monkeypatch.setattr(winograd_few, "BLOCK", int(rng.choice([4, 8, 32])))
    monkeypatch.setattr(winograd_few, "run_product", lambda *some: (used.append(some), product(*some)))
    monkeypatch.setattr(parts, "LEAST_WORK", 0)
    C, M = rng.integers(1, 40, 2)
    with machine.threads(1 + seed % 2):
        check(rng, C, *rng.integers(3, 6, 2), int(rng.choice([1, 7, 15, 16, 17, 33])), M)
    assert used


def test_empty_batch_and_nan():
    x, w = np.zeros((2, 5, 5, 0), np.float32), np.ones((4, 2, 3, 3), np.float32)
    conv_winograd.forward(x, w, None, np.zeros((4, 3, 3, 0), np.float32), Window())
    x, y = np.zeros((2, 5, 5, 3), np.float32), np.zeros((4, 3, 3, 3), np.float32)
    x[1, 2, 2, 1] = np.nan
    conv_winograd.forward(x, w, None, y, Window(), relu=True)
    assert np.isnan(y[..., 1]).all()
    assert not np.isnan(y[..., [0, 2]]).any()
