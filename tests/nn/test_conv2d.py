"""Conv2d: the numbers of known mistakes, gradients, agreement of the fast and the plain path, errors."""

import numpy as np
import pytest

from dtnn.nn import Conv2d
from tests.nn.checks import agree, build, check_gradients, gradients


def ones(size, kernel, dtype, channels=1, **options):
    layer, out = build(Conv2d(channels, kernel, bias=False, **options), (1, *size), dtype)
    layer.weight.value[...] = 1
    return layer, out


def run(layer, x, dy=None):
    y, backward = layer.forward(x)
    return y, backward(np.ones_like(y) if dy is None else dy)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floor_remainder(dtype):  # case 49
    layer, _ = ones((6, 6), 3, dtype, stride=2)
    y, dx = run(layer, np.ones((1, 6, 6, 1), dtype))
    assert y.ravel().tolist() == [9, 9, 9, 9]
    rows = [1, 1, 2, 1, 1, 0]
    expected = [rows, rows, [2 * v for v in rows], rows, rows, [0] * 6]
    np.testing.assert_array_equal(dx[0, :, :, 0], expected)
    np.testing.assert_array_equal(layer.weight.grad, np.full((1, 1, 3, 3), 4))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradient_has_the_shape_of_the_input(dtype):  # case 51
    layer, _ = ones((32, 32), 5, dtype, stride=2)
    y, dx = run(layer, np.ones((1, 32, 32, 1), dtype))
    assert y.shape == (1, 14, 14, 1)
    assert (y == 25).all()
    assert dx.shape == (1, 32, 32, 1)
    assert not dx[:, -1].any()
    assert not dx[:, :, -1].any()
    assert dx.sum() == 4900


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_height_and_width_are_not_mixed(dtype):  # case 56
    layer, _ = ones((3, 4), (1, 3), dtype, stride=(2, 1), padding=(0, 2))
    y = layer(np.arange(12, dtype=dtype).reshape(1, 3, 4, 1))
    np.testing.assert_array_equal(y[0, :, :, 0], [[0, 1, 3, 6, 5, 3], [8, 17, 27, 30, 21, 11]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_order_of_the_taps(dtype):  # case 57
    layer, _ = build(Conv2d(1, 2, bias=False), (2, 3, 3), dtype)
    layer.weight.value[...] = [[[[1, 1], [1, 1]], [[1, 0], [0, 0]]]]
    x = np.ones((2, 3, 3, 1), dtype)
    x[1] = 10
    assert (layer(x) == 14).all()


def test_same_padding_keeps_the_size():
    for kernel in (1, 2, 3, 4, (5, 2)):
        layer, out = build(Conv2d(2, kernel, padding="same"), (3, 7, 6))
        assert out == (2, 7, 6)
        assert layer(np.ones((3, 7, 6, 2))).shape == (2, 7, 6, 2)


GEOMETRIES = [
    {"kernel_size": 3, "padding": 1},
    {"kernel_size": (2, 3), "stride": (2, 1)},
    {"kernel_size": (3, 2), "stride": (1, 3), "padding": (2, 0)},
    {"kernel_size": (4, 1), "padding": "same"},
    {"kernel_size": 1, "stride": 2},
]


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("options", [{}, {"relu": True}])
def test_gradients(geometry, options):
    check_gradients(Conv2d(3, **geometry), (2, 6, 5), 2, **options)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_float32_agrees(geometry):
    for count in (1, 17, 64):
        agree(Conv2d(5, **geometry), (3, 8, 7), count, relu=count == 17)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel_size": 0}, r"Conv2d: kernel_size is 0; it must be at least 1"),
        ({"kernel_size": 3, "stride": 0}, r"Conv2d: stride is 0; it must be at least 1"),
        ({"kernel_size": 3, "padding": -1}, r"Conv2d: padding is -1; it must be at least 0"),
        ({"kernel_size": 3, "padding": "full"}, r"Conv2d: padding is 'full'; it must be an integer, two of them, or 'same'"),
        ({"kernel_size": 3, "padding": "same", "stride": 2}, r"padding='same' goes with stride 1 only, but stride is \(2, 2\)"),
        ({"kernel_size": (3, 3, 3)}, r"Conv2d: kernel_size is \(3, 3, 3\); it must be one integer, or two"),
    ],
)
def test_wrong_numbers_are_refused_at_once(options, message):  # case 59
    with pytest.raises(ValueError, match=message):
        Conv2d(4, **options)


def test_misfits_are_refused_when_built():
    rng = np.random.default_rng(0)
    with pytest.raises(
        ValueError,
        match=r"Conv2d\(4, 5\) has a window of \(5, 5\), but the image is \(4, 9\).*smaller kernel_size or more padding",
    ):
        Conv2d(4, 5).build((1, 4, 9), rng)
    with pytest.raises(
        ValueError, match=r"takes samples of shape \(C, H, W\), but gets \(10,\); convolutions come before Flatten"
    ):
        Conv2d(4, 5).build((10,), rng)
    layer, _ = build(Conv2d(4, 3), (2, 5, 5))
    with pytest.raises(ValueError, match=r"samples of shape \(2, 5, 5\).*got \(3, 5, 5, 1\)"):
        layer(np.ones((3, 5, 5, 1)))
    with pytest.raises(TypeError, match=r"Conv2d: channels is '4'"):
        Conv2d("4", 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dilation(dtype):  # case 54
    layer, _ = ones((5, 5), 3, dtype, dilation=2)
    y, dx = run(layer, np.arange(25, dtype=dtype).reshape(1, 5, 5, 1))
    assert y.ravel().tolist() == [108]
    even = (np.indices((5, 5)) % 2 == 0).all(0)
    np.testing.assert_array_equal(dx[0, :, :, 0], even)


def plain_convolution(x, w, b, before, after, stride, dilation):
    """Written with the definition alone: x (C, H, W, N) with zeros around it, an inner product for each window."""
    padded = np.pad(x, ((0, 0), (before[0], after[0]), (before[1], after[1]), (0, 0)))
    (M, _, KH, KW), (SH, SW), (DH, DW) = w.shape, stride, dilation
    rows = range(0, padded.shape[1] - DH * (KH - 1), SH)
    columns = range(0, padded.shape[2] - DW * (KW - 1), SW)
    y = np.empty((M, len(rows), len(columns), x.shape[3]))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            window = padded[:, row : row + DH * (KH - 1) + 1 : DH, column : column + DW * (KW - 1) + 1 : DW]
            y[:, i, j] = np.einsum("mchk,chkn->mn", w, window) + b[:, None]
    return y


@pytest.mark.parametrize("algorithm", ["direct", "im2col", "auto"])
@pytest.mark.parametrize("kernel", [(1, 1), (2, 2), (3, 3), (2, 5), (4, 3), (5, 4)])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 1), (3, 2)])
def test_same_padding_has_the_values_of_the_definition(kernel, dilation, algorithm):
    """An even window has its odd zero below and to the right, as TensorFlow and PyTorch have."""
    layer, out = build(Conv2d(16, kernel, padding="same", dilation=dilation, algorithm=algorithm), (16, 9, 7), np.float32)
    assert out == (16, 9, 7)
    total = [d * (k - 1) for k, d in zip(kernel, dilation)]
    before, after = [t // 2 for t in total], [t - t // 2 for t in total]
    check_values(layer, (16, 9, 7), before, after, (1, 1), dilation)


@pytest.mark.parametrize("kernel", [(2, 2), (3, 3), (4, 3)])
@pytest.mark.parametrize("stride", [(2, 2), (1, 3), (3, 2)])
@pytest.mark.parametrize("padding", [(0, 0), (1, 1), (2, 1)])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 1)])
def test_strides_have_the_values_of_the_definition(kernel, stride, padding, dilation):
    layer, _ = build(Conv2d(5, kernel, stride=stride, padding=padding, dilation=dilation), (3, 11, 8), np.float32)
    check_values(layer, (3, 11, 8), padding, padding, stride, dilation)


def check_values(layer, shape, before, after, stride, dilation):
    rng = np.random.default_rng(0)
    layer.bias.value[...] = rng.standard_normal(len(layer.bias.value))
    x = rng.standard_normal((*shape, 3)).astype(np.float32)
    expected = plain_convolution(
        x.astype(float), layer.weight.value.astype(float), layer.bias.value, before, after, stride, dilation
    )
    y = layer(x)
    assert y.shape == expected.shape
    np.testing.assert_allclose(y, expected, atol=1e-5 * abs(expected).max())


STATED = {16: (4e-6, 1e-5), 64: (4e-6, 1e-5), 256: (4e-6, 2.5e-5), 512: (4e-6, 2.5e-5)}  # channels: direct sum, Winograd


@pytest.mark.parametrize("channels", STATED)
@pytest.mark.parametrize("algorithm", ["direct", "winograd", "im2col"])
@pytest.mark.parametrize("seed", [0, 1])
def test_rounding_is_what_the_docstring_says(channels, algorithm, seed):
    rng, size = np.random.default_rng(seed), 16 if channels <= 64 else 8
    layer, _ = build(Conv2d(channels, 3, padding=1, algorithm=algorithm), (channels, size, size), np.float32, seed)
    x, dy = (rng.standard_normal((channels, size, size, 16)).astype(np.float32) for _ in range(2))
    most = 1.25 * STATED[channels][algorithm == "winograd"]  # on CPUs whose sums have another order
    exact = by_products(x.astype(float), layer.weight.value.astype(float), dy.astype(float))
    y, dx, grads = gradients(layer, x, dy)
    for found, right in zip((y, dx, grads["weight"]), exact):
        assert abs(found - right).max() <= most * abs(right).max()


def by_products(x, w, dy):
    """y, dx and the gradient of the filter of a 3 x 3 convolution with a margin of 1, in float64: nine matrix products."""
    (C, H, W, _), M = x.shape, len(w)
    around = (0, 0), (1, 1), (1, 1), (0, 0)
    padded, padded_dy = np.pad(x, around), np.pad(dy, around)
    y, dx, dw = np.zeros(dy.shape), np.zeros(x.shape), np.zeros(w.shape)
    for h in range(3):
        for k in range(3):
            v = padded[:, h : h + H, k : k + W].reshape(C, -1)
            y += (w[:, :, h, k] @ v).reshape(y.shape)
            dw[:, :, h, k] = dy.reshape(M, -1) @ v.T
            dx += (w[:, :, h, k].T @ padded_dy[:, 2 - h : 2 - h + H, 2 - k : 2 - k + W].reshape(M, -1)).reshape(dx.shape)
    return y, dx, dw


def test_same_padding_of_a_dilated_kernel():  # case 53
    layer, out = build(Conv2d(8, (3, 5), padding="same", dilation=(2, 3)), (3, 28, 31), np.float32)
    assert out == (8, 28, 31)
    assert layer._margins == ((2, 2), (6, 6))
    assert layer(np.ones((3, 28, 31, 1), np.float32)).shape == (8, 28, 31, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_groups_are_convolutions_apart(dtype):  # case 58
    rng = np.random.default_rng(0)
    layer, _ = build(Conv2d(6, 3, stride=2, padding=1, groups=3), (6, 7, 6), dtype)
    x, dy = rng.standard_normal((6, 7, 6, 4)).astype(dtype), rng.standard_normal((6, 4, 3, 4)).astype(dtype)
    y, dx = run(layer, x, dy.copy())
    assert layer.weight.value.shape == (6, 2, 3, 3)
    for g in range(3):
        c, alone = slice(2 * g, 2 * g + 2), build(Conv2d(2, 3, stride=2, padding=1), (2, 7, 6), dtype)[0]
        alone.weight.value[...], alone.bias.value[...] = layer.weight.value[c], layer.bias.value[c]
        y_g, dx_g = run(alone, np.ascontiguousarray(x[c]), dy[c].copy())
        np.testing.assert_allclose(y[c], y_g, atol=1e-5)
        np.testing.assert_allclose(dx[c], dx_g, atol=1e-5)
        np.testing.assert_allclose(layer.weight.grad[c], alone.weight.grad, atol=1e-5)
        np.testing.assert_allclose(layer.bias.grad[c], alone.bias.grad, atol=1e-5)


WIDER = [
    {"kernel_size": 3, "dilation": 2, "padding": 1},
    {"kernel_size": (2, 3), "dilation": (1, 2), "stride": (2, 3), "padding": 2},
    {"kernel_size": 3, "groups": 2, "padding": 1},
    {"kernel_size": (3, 1), "groups": 4, "stride": 2},
    {"kernel_size": 3, "algorithm": "im2col", "stride": (2, 1), "padding": 1},
    {"kernel_size": (2, 3), "algorithm": "im2col", "dilation": 2, "padding": (3, 1)},
]


@pytest.mark.parametrize("geometry", WIDER)
def test_gradients_with_dilation_and_groups(geometry):
    check_gradients(Conv2d(8, **geometry), (4, 6, 7), 2)
    check_gradients(Conv2d(8, **geometry), (4, 6, 7), 2, relu=True)
    agree(Conv2d(8, **geometry), (4, 8, 7), 18)


@pytest.mark.parametrize("padding", [0, 1, 2])
def test_all_algorithms_agree(padding):
    rng, found = np.random.default_rng(0), {}
    x = rng.standard_normal((20, 9, 10, 33)).astype(np.float32)
    for algorithm in ("direct", "im2col", "winograd", "auto"):
        layer, out = build(Conv2d(18, 3, padding=padding, algorithm=algorithm), (20, 9, 10), np.float32)
        dy = np.random.default_rng(1).standard_normal((*out, 33)).astype(np.float32)
        found[algorithm] = [*run(layer, x, dy), layer.weight.grad, layer.bias.grad]
    for algorithm, arrays in found.items():
        for a, b in zip(arrays, found["direct"]):
            assert np.abs(a - b).max() < 1e-5 * np.abs(b).max(), algorithm
    assert (found["auto"][0] == found["winograd"][0]).all()
    exact, _ = build(Conv2d(18, 3, padding=padding, exact=True), (20, 9, 10), np.float32)
    assert (exact(x) == found["direct"][0]).all()


def test_wrong_algorithms_and_groups_are_refused():
    with pytest.raises(ValueError, match=r"algorithm is 'fft'; it must be one of 'auto', 'direct', 'im2col', 'winograd'"):
        Conv2d(4, 3, algorithm="fft")
    with pytest.raises(ValueError, match=r"algorithm='winograd' is for kernel_size 3, stride 1.* got kernel_size \(5, 5\)"):
        Conv2d(4, 5, algorithm="winograd")
    with pytest.raises(ValueError, match=r"Conv2d: dilation is 0; it must be at least 1"):  # case 59
        Conv2d(4, 3, dilation=0)
    with pytest.raises(ValueError, match=r"groups 3 must divide the 4 channels of the input and the 6 of the output"):
        Conv2d(6, 3, groups=3).build((4, 8, 8), np.random.default_rng(0))
