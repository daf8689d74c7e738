"""The register tiles against the six loops: every remainder of a tile, strides, paddings, dilations, batches."""

import numpy as np
import pytest

from dtnn import machine
from dtnn.kernels import conv_direct, conv_flat, conv_pixels, conv_plain, conv_plan, direct_gradient, parts, tile_sizes
from dtnn.kernels.aligned import aligned
from dtnn.kernels.conv_plan import Window
from dtnn.kernels.scratch import thread

BATCHES = [1, 2, 5, 7, 15, 16, 17, 31, 33, 48, 50, 64, 70, 80]


def difference(a, b):
    return np.abs(a - b).max(initial=0) / max(1e-2, np.abs(b).max(initial=0))


def random(rng, *shape):
    out = aligned(tuple(int(n) for n in shape))
    out[...] = rng.standard_normal(shape)
    return out


def spoil():
    """Nothing may depend on what scratch held before."""
    for name, array in thread.arrays.items():
        if name != "zeros":
            array[...] = np.nan


def check(rng, C, H, W, N, M, kernel, window, relu):
    size = [(n + 2 * p - (k - 1) * d - 1) // s + 1 for n, k, s, p, d in zip((H, W), kernel, *window)]
    x, w, b = random(rng, C, H, W, N), random(rng, M, C, *kernel), random(rng, M)
    x8, w8, b8 = (a.astype(float) for a in (x, w, b))
    spoil()
    y = np.full((M, *size, N), np.nan, np.float32)
    conv_direct.forward(x, w, b, y, window, relu)
    y8 = np.zeros(y.shape)
    conv_plain.forward(x8, w8, b8, y8, window, relu)
    assert difference(y, y8) < 1e-5
    dy, dw, db = random(rng, M, *size, N), random(rng, *w.shape), random(rng, M)
    dy8, dw8, db8 = (a.astype(float) for a in (dy, dw, db))
    masked = (y, y.astype(float)) if relu else (None, None)
    conv_direct.filter_gradient(x, dy, masked[0], dw, db, window)
    conv_plain.filter_gradient(x8, dy8, masked[1], dw8, db8, window)
    assert difference(dw, dw8) < 1e-4
    assert difference(db, db8) < 1e-4
    np.testing.assert_array_equal(dy, dy8)  # masked, and nothing else
    for adds in (False, True):
        dx = random(rng, C, H, W, N) if adds else np.full((C, H, W, N), np.nan, np.float32)
        dx8 = dx.astype(float)
        conv_direct.data_gradient(dy, w, dx, window, adds)
        conv_plain.data_gradient(dy8, w8, dx8, window, adds)
        assert difference(dx, dx8) < 1e-5


def draw(rng):
    C, M = rng.integers(1, 20, 2)
    kernel = tuple(rng.integers(1, 6, 2))
    window = Window(*(tuple(int(n) for n in rng.integers(*limits, 2)) for limits in ((1, 4), (0, 4), (1, 3))))
    reach = [(k - 1) * d + 1 - 2 * p for k, d, p in zip(kernel, window.dilation, window.padding)]
    H, W = (int(max(1, r) + rng.integers(0, 14)) for r in reach)
    return C, H, W, int(rng.choice(BATCHES)), M, kernel, window, bool(rng.integers(2))


@pytest.mark.parametrize("seed", range(24))
def test_random_shapes(seed):
    rng = np.random.default_rng(seed)
    check(rng, *draw(rng))


@pytest.mark.parametrize("seed", range(24))
def test_few_channels_with_full_vectors_are_read_where_they_lie(seed):
    rng = np.random.default_rng(seed)
    _, H, W, _, _, kernel, window, relu = draw(rng)
    C, N, M = (int(rng.choice(some)) for some in (range(1, 9), [16, 32, 48, 64], [3, 4, 8]))
    check(rng, C, H, W, N, M, kernel, window, relu)


@pytest.mark.parametrize("seed", range(24))
def test_tiny_images_are_done_pixel_by_pixel(seed, monkeypatch):
    """On one thread and on two; pixels that see no tap at all, too."""
    used, product, rng = [], conv_pixels.run_product, np.random.default_rng(seed)
    monkeypatch.setattr(conv_pixels, "LEAST_FILTERS", 0)
    monkeypatch.setattr(conv_pixels, "LEAST_IMAGES", 1)
    monkeypatch.setattr(conv_pixels, "run_product", lambda *some: (used.append(some), product(*some)))
    monkeypatch.setattr(parts, "LEAST_WORK", 0)
    while True:
        C, _, _, N, M, kernel, window, relu = draw(rng)
        H, W = (int(n) for n in rng.integers(1, 5, 2))
        size = [(n + 2 * p - (k - 1) * d - 1) // s + 1 for n, k, s, p, d in zip((H, W), kernel, *window)]
        if min(size) > 0 and max(H * W, size[0] * size[1]) <= conv_pixels.MOST_PIXELS and kernel != (1, 1):
            break
    with machine.threads(1 + seed % 2):
        check(rng, C, H, W, N, M, kernel, window, relu)
    assert used


@pytest.mark.parametrize("count", range(1, 34))
def test_every_batch_size(count):
    check(np.random.default_rng(count), 3, 6, 7, count, 5, (3, 3), Window(padding=(1, 1)), count % 2 == 0)


@pytest.mark.parametrize(("count", "passes"), [(128, 1), (80, 4)])
def test_blocks_of_images_are_columns_of_their_own_where_all_strips_have_as_many(count, passes):
    plan = conv_plan.forward_plan((9, 12, 9, count), (5, 9, 5, 5), (5, 12, 9, count), Window(padding=(2, 2)))
    assert (plan.passes, plan.strip.blocks) == (passes, 4)
    check(np.random.default_rng(count), 9, 12, 9, count, 5, (5, 5), Window(padding=(2, 2)), True)
    check(np.random.default_rng(count), 9, 12, 11, count, 13, (3, 3), Window((2, 2), (1, 1)), False)


@pytest.mark.skipif(tile_sizes.registers() < 32, reason="a tile of 2 x 9 needs the registers of AVX-512")
@pytest.mark.parametrize(("filters", "tile"), [(4, (2, 9)), (16, (4, 5))])
def test_few_filters_have_a_tile_that_nine_taps_fill(filters, tile):
    for channels in (1, 4):
        plan = direct_gradient.gradient_plan((channels, 9, 9, 16), (filters, channels, 3, 3), (filters, 7, 7, 16), Window())
        assert plan.tile == tile


def test_strips_of_a_large_image():
    check(np.random.default_rng(0), 16, 40, 37, 64, 8, (3, 3), Window(padding=(1, 1)), True)


def test_rows_of_a_tile_that_see_no_pixel():
    check(np.random.default_rng(0), 4, 12, 4, 70, 9, (1, 3), Window((3, 2), (2, 0)), False)


@pytest.mark.parametrize("count", [0, 4, 7, 16, 33, 64])
def test_one_pixel_is_a_product(count):
    for relu in (False, True):
        check(np.random.default_rng(count), 5, 4, 6, count, 7, (1, 1), Window(), relu)


def test_empty_batch():
    check(np.random.default_rng(0), 3, 6, 7, 0, 5, (3, 3), Window(), True)


def test_nan_reaches_the_output_and_relu_keeps_it():
    x, w = np.zeros((2, 5, 5, 3), np.float32), np.ones((4, 2, 3, 3), np.float32)
    x[1, 2, 2, 1] = np.nan
    y = np.zeros((4, 3, 3, 3), np.float32)
    conv_direct.forward(x, w, None, y, Window(), relu=True)
    assert np.isnan(y[..., 1]).all()
    assert not np.isnan(y[..., [0, 2]]).any()


@pytest.mark.parametrize("seed", range(8))
def test_many_channels_on_small_images(seed):
    rng = np.random.default_rng(seed)
    *_, M, kernel, window, relu = draw(rng)
    reach = [(k - 1) * d + 1 - 2 * p for k, d, p in zip(kernel, window.dilation, window.padding)]
    H, W = (int(max(1, r) + rng.integers(0, 3)) for r in reach)
    check(rng, int(rng.integers(64, 90)), H, W, int(rng.choice([1, 15, 16, 33])), M, kernel, window, relu)


@pytest.mark.parametrize("seed", range(20))
def test_few_images(seed):
    """Stride 1 and a batch with empty lanes: `conv_flat`."""
    rng = np.random.default_rng(seed)
    C, H, W, _, M, kernel, window, relu = draw(rng)
    window = window._replace(stride=(1, 1))
    count = int(rng.choice([1, 2, 3, 5, 7]))
    assert conv_flat.suits((C, H, W, count), window)
    check(rng, C, H, W, count, M, kernel, window, relu)


def test_few_images_in_strips():
    check(np.random.default_rng(0), 16, 70, 69, 3, 17, (3, 3), Window(padding=(1, 1)), True)
