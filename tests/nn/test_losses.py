"""cross_entropy and accuracy: labels in all forms, numbers that overflow, sums and weights."""

import numpy as np
import pytest

from dtnn.nn import CrossEntropy, Huber, accuracy, binary_cross_entropy, cross_entropy, hinge, huber, losses, mae, mse


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_logits(dtype):  # case 65
    for logits, label, loss, gradient in (
        ([1e8, 1e8], 1, 0.693147, [0.5, -0.5]),
        ([-1000, 1000], 0, 2000, [-1, 1]),
        ([-1000, 1000], 1, 0, [0, 0]),
    ):
        found, d = cross_entropy(np.array(logits, dtype)[:, None], np.array([label]))
        assert found == pytest.approx(loss, abs=1e-6)
        np.testing.assert_allclose(d[:, 0], gradient, atol=1e-7)
        assert d.dtype == dtype


def test_gradient_is_that_of_the_sum_over_the_weight():
    rng = np.random.default_rng(0)
    z, labels = rng.standard_normal((4, 5)), rng.integers(0, 4, 5)
    _, d = cross_entropy(z, labels, weight=20)
    for k, n in ((0, 0), (3, 2), (1, 4)):
        up, down = z.copy(), z.copy()
        up[k, n] += 1e-6
        down[k, n] -= 1e-6
        assert d[k, n] == pytest.approx((cross_entropy(up, labels)[0] - cross_entropy(down, labels)[0]) / 2e-6 / 20, rel=1e-5)


def test_all_forms_of_labels_agree():
    z = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    labels = np.array([0, 2, 1, 2])
    expected, gradient = cross_entropy(z, labels)
    for form in (labels[:, None], labels.astype(np.uint8), np.eye(3)[labels], np.eye(3, dtype=np.float32)[labels]):
        loss, d = cross_entropy(z, form)
        assert loss == pytest.approx(expected, rel=1e-6)
        np.testing.assert_allclose(d, gradient, atol=1e-7)


def test_a_row_of_zeros_counts_nothing():  # case 68
    loss, d = cross_entropy(np.array([[3.0, 1], [1, 1]], np.float32), np.array([[0, 0], [0, 1]]))
    assert loss == pytest.approx(np.log(2), rel=1e-6)
    assert not d[:, 0].any()


def test_soft_targets():
    z = np.array([[2.0], [0.0]])
    p = np.exp(z) / np.exp(z).sum()
    loss, d = cross_entropy(z, np.array([[0.95, 0.05]]))
    assert loss == pytest.approx(float(-0.95 * np.log(p[0, 0]) - 0.05 * np.log(p[1, 0])))
    np.testing.assert_allclose(d[:, 0], [p[0, 0] - 0.95, p[1, 0] - 0.05])


def test_nan_is_seen():
    loss, d = cross_entropy(np.array([[np.nan, 0], [0, 0]], np.float32), np.array([0, 1]))
    assert np.isnan(loss)
    assert np.isnan(d[:, 0]).all()
    assert np.isnan(cross_entropy(np.array([[np.inf], [0]], np.float32), np.array([0]))[0])


def test_wrong_labels_are_named():
    z = np.zeros((3, 2), np.float32)
    with pytest.raises(ValueError, match=r"label 3 of sample 1 is none of the model's 3 outputs; labels must be 0 \.\. 2"):
        cross_entropy(z, np.array([0, 3]))
    with pytest.raises(ValueError, match=r"targets have shape \(3,\), but there are 2 samples"):
        cross_entropy(z, np.array([0, 1, 2]))
    with pytest.raises(ValueError, match=r"targets have 4 columns, but the model has 3 outputs"):
        cross_entropy(z, np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"type float64; give integer labels .* or use another loss, and metric,"):
        cross_entropy(z, np.array([0.5, 1.5]))
    with pytest.raises(ValueError, match=r"end the model with Flatten\(\), Linear\(classes\)"):
        cross_entropy(np.zeros((3, 2, 2, 2), np.float32), np.array([0, 1]))


def test_empty_share():
    loss, d = cross_entropy(np.zeros((3, 0), np.float32), np.zeros(0, int), weight=5)
    assert loss == 0
    assert d.shape == (3, 0)
    assert accuracy.sums(np.zeros((3, 0)), np.zeros(0, int)).tolist() == [0, 0]


def test_accuracy_in_all_forms():  # case 69
    outputs = np.array([[0.1, 0.9, 0.8], [0.05, 0.95, 0]]).T
    for targets in (np.array([2, 1]), np.array([[2], [1]]), np.array([[0, 0, 1], [0, 1, 0]])):
        sums = accuracy.sums(outputs, targets)
        assert sums.dtype == np.float64
        assert accuracy.value(sums) == 0.5
    assert np.isnan(accuracy.value(np.zeros(2)))


def check_slope(loss, z, targets):
    """The gradient against central differences."""
    _, d = loss(z, targets, 7)
    for place in np.ndindex(z.shape):
        up, down = z.copy(), z.copy()
        up[place] += 1e-6
        down[place] -= 1e-6
        assert d[place] == pytest.approx((loss(up, targets)[0] - loss(down, targets)[0]) / 2e-6 / 7, rel=1e-5, abs=1e-9)


def test_label_smoothing():  # case 66: over all classes
    loss, d = CrossEntropy(0.1)(np.array([[2.0], [0]]), np.array([0]))
    assert loss == pytest.approx(0.226928, abs=1e-6)
    loss, d = CrossEntropy(0.1)(np.array([[3.0], [1], [0], [-1]]), np.array([0]))
    assert loss == pytest.approx(0.410182, abs=1e-6)
    np.testing.assert_allclose(d[:, 0], [-0.094047, 0.087457, 0.016371, -0.009781], atol=1e-6)
    assert CrossEntropy()(np.zeros((2, 1)), np.array([0]))[0] == cross_entropy(np.zeros((2, 1)), np.array([0]))[0]
    with pytest.raises(ValueError, match=r"CrossEntropy: label_smoothing is 1; it must be in \[0, 1\)"):
        CrossEntropy(1)


@pytest.mark.parametrize("loss", [mse, mae, huber, Huber(0.3), binary_cross_entropy])
def test_slopes_of_numbers(loss):
    rng = np.random.default_rng(0)
    z, targets = rng.standard_normal((3, 4)), rng.random((4, 3))
    check_slope(loss, z, targets)
    single, expected = loss(z[:1], targets[:, 0]), loss(z[:1], targets[:, :1])
    assert single[0] == expected[0]
    assert loss(z.astype(np.float32), targets)[1].dtype == np.float32
    assert loss(z, targets)[0] == pytest.approx(sum(loss(z[:, n : n + 1], targets[n : n + 1])[0] for n in range(4)))
    with pytest.raises(ValueError, match=r"targets have shape \(4, 2\), but the model gives \(4, 3\)"):
        loss(z, targets[:, :2])
    z[1, 1] = np.nan
    total, d = loss(z, targets)
    assert np.isnan(total)
    assert np.isnan(d[1, 1])


def test_values_of_numbers():
    z, targets = np.array([[1.0, -2], [3, 0]]), np.array([[0.0, 1], [0, 0]])
    assert mse(z, targets)[0] == (1 + 4) / 2 + 4 / 2
    assert mae(z, targets)[0] == (1 + 2) / 2 + 2 / 2
    assert Huber(1.5)(z, targets)[0] == pytest.approx((0.5 + 1.875) / 2 + 1.875 / 2)


def test_binary_cross_entropy_does_not_overflow():
    loss, d = binary_cross_entropy(np.array([[1000.0, -1000, 1000]]), np.array([1, 0, 0]))
    assert loss == 1000
    np.testing.assert_allclose(d * 3, [[0, 0, 1]])
    with pytest.raises(ValueError, match=r"a target is 2\.0; they must be between 0 and 1"):
        binary_cross_entropy(np.zeros((1, 2)), np.array([0, 2]))


def test_hinge():
    z, labels = np.random.default_rng(0).standard_normal((4, 6)), np.array([0, 1, 2, 3, 0, 1])
    check_slope(hinge, z, labels)
    wrong = np.where(np.eye(4)[labels].T > 0, -np.inf, z).max(0)
    expected = np.maximum(0, 1 + wrong - z[labels, np.arange(6)]).sum()
    assert hinge(z, labels)[0] == pytest.approx(expected)
    assert hinge(z, np.eye(4)[labels])[0] == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"hinge: label 4 of sample 1 is none of the model's 4 outputs"):
        hinge(z[:, :2], np.array([0, 4]))


def test_names_of_the_module_are_losses():
    assert {"cross_entropy", "mse", "mae", "huber", "hinge", "binary_cross_entropy"} <= set(losses.__all__)


def test_hinge_of_a_row_of_zeros_counts_nothing():
    outputs, rows = np.array([[0.5, 0.5], [0.2, 0.2]]), np.array([[1, 0], [0, 0]])
    loss, d = hinge(outputs, rows, 2)
    alone, slopes = hinge(outputs[:, :1], rows[:1], 2)
    assert loss == alone == pytest.approx(0.7)
    np.testing.assert_array_equal(d, np.concatenate([slopes, np.zeros((2, 1))], axis=1))


OF_TOKENS = [cross_entropy, CrossEntropy(0.1), hinge]


@pytest.mark.parametrize("loss", OF_TOKENS)
@pytest.mark.parametrize("weight", [None, 20])
def test_tokens_are_a_mean_over_the_samples_of_their_places(loss, weight):
    rng = np.random.default_rng(0)
    z, labels = rng.standard_normal((4, 3, 5)), rng.integers(0, 4, (5, 3))
    total, d = loss(z, labels, weight)
    assert d.shape == z.shape
    assert d.flags.c_contiguous
    places = [loss(z[:, t], labels[:, t], weight) for t in range(3)]
    assert total == pytest.approx(np.mean([found for found, _ in places]))
    np.testing.assert_allclose(d, np.stack([slopes for _, slopes in places], axis=1) / 3, atol=1e-15)
    one_hot = loss(z, np.eye(4)[labels], weight)
    assert one_hot[0] == pytest.approx(total)
    np.testing.assert_allclose(one_hot[1], d, atol=1e-15)
    assert loss(z[..., :0], labels[:0], 5)[1].shape == (4, 3, 0)


@pytest.mark.parametrize("loss", OF_TOKENS)
def test_wrong_labels_of_tokens_are_named(loss):
    z = np.zeros((4, 3, 2), np.float32)
    with pytest.raises(
        ValueError, match=r"label 4 of token 1 of sample 0 is none of the model's 4 outputs; labels must be 0 \.\. 3"
    ):
        loss(z, np.array([[0, 4, 0], [5, 0, 0]]))
    for targets, shape in ((np.array([0, 1]), r"\(2,\)"), (np.zeros((3, 2), int), r"\(3, 2\)")):
        wanted = (
            rf"targets have shape {shape}.* each of 3 tokens of 2 samples; give a label for each token, \(2, 3\), or put Flatten"
        )
        with pytest.raises(ValueError, match=wanted):
            loss(z, targets)
    with pytest.raises(ValueError, match="targets have 5 columns, but the model has 4 outputs"):
        loss(z, np.zeros((2, 3, 5)))
