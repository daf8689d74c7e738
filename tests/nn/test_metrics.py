"""Metrics: values, and that sums over any split of the samples give the same."""

import numpy as np
import pytest

from dtnn.nn import metrics

rng = np.random.default_rng(0)
SCORES, LABELS = rng.integers(-3, 4, (4, 50)).astype(float), rng.integers(0, 4, 50)
VALUES, NUMBERS = rng.standard_normal((2, 50)), rng.standard_normal((50, 2))
OF_CLASSES = [
    metrics.accuracy, metrics.TopK(2), metrics.Hinge(), metrics.ConfusionMatrix(4), metrics.precision, metrics.recall, metrics.f1,
]  # fmt: skip
OF_NUMBERS = [metrics.mse, metrics.mae, metrics.r2]


@pytest.mark.parametrize("metric", OF_CLASSES + OF_NUMBERS)
def test_sums_add_up(metric):
    outputs, targets = (SCORES, LABELS) if metric in OF_CLASSES else (VALUES, NUMBERS)
    whole = metric.sums(outputs, targets)
    parts = sum(metric.sums(outputs[:, s], targets[s]) for s in (slice(0, 1), slice(1, 20), slice(20, 50)))
    assert whole.dtype == np.float64
    assert whole.shape == metric.sums(outputs[:, :1], targets[:1]).shape
    np.testing.assert_allclose(parts, whole)
    assert np.isfinite(metric.value(whole))
    assert isinstance(metric.value(whole), float)
    assert isinstance(metric.name, str)
    assert np.isnan(metric.value(np.zeros_like(whole)))
    if metric in OF_CLASSES:
        np.testing.assert_allclose(metric.sums(outputs, np.eye(4)[LABELS]), whole)


def value(metric, outputs, targets):
    return metric.value(metric.sums(outputs, targets))


def test_values():
    guess = SCORES.argmax(0)
    order = np.argsort(-SCORES, axis=0, kind="stable")[:2]
    assert value(metrics.accuracy, SCORES, LABELS) == (guess == LABELS).mean()
    assert value(metrics.TopK(2), SCORES, LABELS) == (order == LABELS).any(0).mean()
    assert value(metrics.TopK(4), SCORES, LABELS) == 1
    matrix = metrics.ConfusionMatrix(4).matrix(metrics.ConfusionMatrix(4).sums(SCORES, LABELS))
    assert matrix[1, 2] == ((LABELS == 1) & (guess == 2)).sum()
    assert value(metrics.ConfusionMatrix(4), SCORES, LABELS) == (guess == LABELS).mean()
    precision = [np.mean(LABELS[guess == k] == k) for k in range(4)]
    recall = [np.mean(guess[k == LABELS] == k) for k in range(4)]
    assert value(metrics.precision, SCORES, LABELS) == pytest.approx(np.mean(precision))
    assert value(metrics.recall, SCORES, LABELS) == pytest.approx(np.mean(recall))
    both = [2 * p * r / (p + r) for p, r in zip(precision, recall)]
    assert value(metrics.f1, SCORES, LABELS) == pytest.approx(np.mean(both))
    errors = VALUES - NUMBERS.T
    assert value(metrics.mse, VALUES, NUMBERS) == pytest.approx((errors**2).mean())
    assert value(metrics.mae, VALUES, NUMBERS) == pytest.approx(np.abs(errors).mean())
    assert value(metrics.r2, VALUES, NUMBERS) == pytest.approx(1 - (errors**2).sum() / ((NUMBERS - NUMBERS.mean()) ** 2).sum())


def test_classes_that_do_not_occur_do_not_count():
    scores = np.array([[1.0, 1], [0, 0], [0, 0]])
    assert value(metrics.precision, scores, np.array([0, 0])) == 1
    assert value(metrics.recall, scores, np.array([0, 1])) == 0.5


def test_a_matrix_of_another_size_is_refused():
    for classes in (3, 5):
        with pytest.raises(ValueError, match=rf"classes={classes}.*4 outputs.*ConfusionMatrix\(4\)"):
            metrics.ConfusionMatrix(classes).sums(SCORES, LABELS)
    for label in (-1, 4):
        with pytest.raises(ValueError, match=f"label {label} of sample 2"):
            metrics.ConfusionMatrix(4).sums(SCORES[:, :3], np.array([0, 1, label]))
    for wrong in (metrics.ConfusionMatrix, metrics.TopK):
        with pytest.raises(ValueError, match="is 0; it must be at least 1"):
            wrong(0)


@pytest.mark.parametrize("label", [-1, 3])
def test_the_largest_few_refuse_a_label_that_is_no_output(label):
    with pytest.raises(ValueError, match=f"top2: label {label} of sample 1 is none of the model's 3 outputs"):
        metrics.TopK(2).sums(np.eye(3)[:, :2], np.array([0, label]))


def test_metrics_are_values():
    assert metrics.TopK(3) == metrics.TopK(3)
    assert metrics.TopK(3).name == "top3"
    assert repr(metrics.TopK(3)) == "TopK(k=3)"


def test_accuracy_of_a_single_output_is_its_sign():
    outputs = np.array([[-1.0, 2.0, 3.0, 0.0]])
    for targets in (np.array([0, 1, 0, 0]), np.array([[0.0], [1], [0], [0]], np.float32)):
        assert metrics.accuracy.sums(outputs, targets).tolist() == [3, 4]
    with pytest.raises(ValueError, match=r"a target is 2; with a single output they are 0 or 1.*leave metrics out"):
        metrics.accuracy.sums(outputs, np.array([0, 1, 2, 0]))
    with pytest.raises(ValueError, match=r"targets have shape \(3,\), but there are 4 samples"):
        metrics.accuracy.sums(outputs, np.array([0, 1, 0]))


@pytest.mark.parametrize("metric", [m for m in OF_CLASSES if not isinstance(m, metrics.Hinge)])
def test_a_token_counts_like_a_sample(metric):
    outputs, labels = SCORES.reshape(4, 5, 10), LABELS.reshape(5, 10).T  # (K, T, N), (N, T)
    np.testing.assert_array_equal(metric.sums(outputs, labels), metric.sums(SCORES, LABELS))
    np.testing.assert_array_equal(metric.sums(outputs, np.eye(4)[labels]), metric.sums(SCORES, LABELS))
    parts = metric.sums(outputs[..., :3], labels[:3]) + metric.sums(outputs[..., 3:], labels[3:])
    np.testing.assert_array_equal(parts, metric.sums(SCORES, LABELS))
    with pytest.raises(ValueError, match=r"give a label for each token, \(10, 5\)"):
        metric.sums(outputs, labels[:, :1])


def test_a_single_output_is_a_decision_between_two_classes():
    z, t = rng.standard_normal((1, 40)), rng.integers(0, 2, 40)
    right, taken, there = ((z[0] > 0) & (t == 1)).sum(), (z[0] > 0).sum(), (t == 1).sum()
    for targets in (t, t[:, None].astype(np.float32)):
        assert value(metrics.precision, z, targets) == pytest.approx(right / taken)
        assert value(metrics.recall, z, targets) == pytest.approx(right / there)
        assert value(metrics.f1, z, targets) == pytest.approx(2 * right / (taken + there))
        matrix = metrics.ConfusionMatrix(2).matrix(metrics.ConfusionMatrix(2).sums(z, targets))
        assert matrix[1].tolist() == [there - right, right]
        assert matrix.sum() == 40
    with pytest.raises(ValueError, match=r"precision: a target is 2; with a single output they are 0 or 1"):
        metrics.precision.sums(z, t + 1)
    with pytest.raises(ValueError, match=r"the model has 1 outputs; write ConfusionMatrix\(2\)"):
        metrics.ConfusionMatrix(3).sums(z, t)
