"""A model, looked into: the pictures hold what the model says."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import dtnn
from dtnn import nn, views
from tests.plots.test_tiles import colours, grey, shown


@pytest.fixture(scope="module")
def digits():
    return dtnn.data.mnist5k()


@pytest.fixture(scope="module")
def lenet(digits):
    model = dtnn.zoo.lenet5()
    model.fit(digits, epochs=1, batch_size=64, show=False)
    return model


def count(ax):
    """How many pictures are shown."""
    return len(ax.collections[0].get_paths())


def _check_signs(seen, weights):
    """Positive is blue, negative red."""
    bluer = np.asarray(seen, int)[..., 2] - np.asarray(seen, int)[..., 0]
    clear = np.abs(weights) > 0.1 * np.abs(weights).max()
    assert clear.sum() > 5
    np.testing.assert_array_equal(np.sign(bluer[clear]), np.sign(weights[clear]))


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_layers_one_by_one_give_what_the_model_gives(lenet, digits):
    found = views.layer_outputs(lenet, digits.x_test[:5])
    assert list(found) == [row.name for row in lenet.summary()]
    np.testing.assert_allclose(found["linear_3"], lenet.predict(digits.x_test[:5]), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(found["relu_1"], np.maximum(found["conv2d_1"], 0))
    assert (found["conv2d_1"] < 0).any(), "what a layer gave is not changed by the next one"


def test_blocks_layers_of_ones_own_and_layers_used_twice(digits):
    class Twice(nn.Layer):
        def forward(self, x, step=None):
            return 2 * x, lambda dy: 2 * dy

    twice = Twice()
    body = nn.Sequential(nn.Conv2d(4, 3, padding=1), nn.BatchNorm2d())
    model = dtnn.Model(nn.Conv2d(4, 3), nn.Residual(body), nn.ReLU(), twice, twice, nn.Flatten(), nn.Linear(10))
    found = views.layer_outputs(model, digits.x_test[:3])
    assert list(found) == ["conv2d_1", "residual_1", "relu_1", "twice_1", "twice_1'", "flatten_1", "linear_1"]
    np.testing.assert_allclose(found["twice_1'"], 4 * found["relu_1"], rtol=1e-6)
    np.testing.assert_allclose(found["linear_1"], model.predict(digits.x_test[:3]), rtol=1e-4, atol=1e-5)


def test_too_many_samples_and_other_samples_are_refused(lenet, digits):
    with pytest.raises(ValueError, match=r"1000 samples are too many.*256 at most"):
        views.layer_outputs(lenet, digits.x_test)
    with pytest.raises(ValueError, match=r"\(8, 8, 1\)"):
        views.layer_outputs(lenet, np.zeros((2, 8, 8, 1), np.float32))


def test_the_confusion_matrix_counts_the_test_rows(lenet, digits, ax):
    counts = views.confusion_counts(lenet, digits)
    assert counts.sum(axis=1).tolist() == np.bincount(digits.y_test).tolist()
    assert np.trace(counts) / counts.sum() == pytest.approx(lenet.evaluate(digits)["accuracy"])
    views.confusion(lenet, digits, ax=ax)
    np.testing.assert_allclose(ax.images[0].get_array(), counts / counts.sum(axis=1, keepdims=True))
    assert views.confusion_counts(lenet, digits.x_train[:7], digits.y_train[:7]).sum() == 7


def test_the_worst_are_the_worst(lenet, digits, ax):
    found = views.worst_samples(lenet, digits, count=1000)
    assert sorted(found["index"]) == list(range(1000))
    assert np.all(np.diff(found["loss"]) <= 0)
    assert np.mean(found["loss"]) == pytest.approx(lenet.evaluate(digits)["loss"], rel=1e-4)
    worst = found["index"][0]
    assert found["label"][0] == digits.y_test[worst]
    assert found["taken_for"][0] == lenet.predict(digits.x_test[worst : worst + 1]).argmax() != found["label"][0]
    views.worst(lenet, digits, ax=ax, count=10)
    np.testing.assert_allclose(shown(ax, 0, (28, 28)), grey(digits.x_test[worst][..., 0], 0, 255), atol=1)
    assert ax.texts[0].get_text() == f"{found['label'][0]} → {found['taken_for'][0]} {found['probability'][0]:.0%}"
    assert count(ax) == 10


def test_the_title_of_the_worst_is_as_wide_as_the_picture(lenet, digits):
    figure = (drawn := views.worst(lenet, digits)).figure
    figure.canvas.draw()
    title = next(text for text in drawn.get_children() if getattr(text, "get_text", str)().startswith("The worst"))
    assert title.get_window_extent().x1 <= figure.bbox.x1, "in a figure of its own, which is as wide as all others"
    plt.close(figure)


def test_a_model_that_lost_its_numbers_is_judged_too(digits):
    model = dtnn.zoo.mlp(hidden=(8,))
    model.parameters.value[...] = np.nan
    assert len(views.worst_samples(model, digits, count=5)["index"]) == 5


def test_what_is_no_classifier_or_has_no_images_is_told(digits, ax):
    dense = dtnn.Model(nn.Linear(2), input_shape=(3,))
    rows = np.zeros((4, 3), np.float32), [0, 1, 1, 0]
    with pytest.raises(ValueError, match=r"shape \(3,\) are no images"):
        views.worst(dense, rows, ax=ax)
    with pytest.raises(ValueError, match=r"no classifier.*\(1,\), not \(classes,\)"):
        views.confusion(dtnn.Model(nn.Linear(1), input_shape=(3,)), rows, ax=ax)
    with pytest.raises(ValueError, match="no convolution whose filters"):
        views.filters(dense, ax=ax)
    with pytest.raises(ValueError, match="no layer of this model gives maps"):
        views.feature_maps(dtnn.Model(nn.Flatten(), nn.Linear(2)), digits.x_test[0], ax=ax)


def test_what_are_no_axes_is_told(lenet):
    with pytest.raises(TypeError, match=r"ax='conv2d_1': give Axes of matplotlib, or leave it out"):
        views.weights(lenet, "conv2d_1")


def test_weights_are_the_models(lenet, ax):
    found = views.layer_weights(lenet)
    assert list(found) == ["conv2d_1", "conv2d_2", "linear_1", "linear_2", "linear_3"]
    np.testing.assert_array_equal(found["conv2d_1"], lenet.layers[0].weight.value)
    found["conv2d_1"][...] = 0
    assert lenet.layers[0].weight.value.any(), "a copy"
    assert [line.get_label() for line in views.weights(lenet, ax=ax).lines] == list(found)


def test_activations_show_how_much_a_relu_makes_zero(lenet, digits, ax):
    views.activations(lenet, digits.x_test[:20], ax=ax)
    labels = [line.get_label() for line in ax.lines]
    zero = np.mean(views.layer_outputs(lenet, digits.x_test[:20])["relu_1"] == 0)
    assert ax.texts[labels.index("relu_1")].get_text().endswith(f"{100 * zero:.0f} % zero")


def test_filters_are_the_weights(lenet, ax):
    weight = lenet.layers[0].weight.value
    views.filters(lenet, ax=ax)
    _check_signs([colours(ax, place, weight.shape[2:]) for place in range(len(weight))], weight[:, 0])
    inner = views.filters(lenet, "conv2d_2", ax=Figure().add_subplot())
    weight = next(layer for layer in lenet.layers[1:] if isinstance(layer, nn.Conv2d)).weight.value
    assert count(inner) == 16 * 6
    _check_signs(colours(inner, 16 + 3, weight.shape[2:]), weight[3, 1])
    with pytest.raises(ValueError, match="no convolution 'conv2d_9'; there are conv2d_1, conv2d_2"):
        views.filters(lenet, "conv2d_9", ax=ax)


def test_maps_are_what_the_layer_gives(lenet, digits, ax):
    image = digits.x_test[3]
    views.feature_maps(lenet, image, ax=ax)
    np.testing.assert_allclose(shown(ax, 0, (28, 28)), grey(image[..., 0], image.min(), image.max()), atol=1)
    found = views.layer_outputs(lenet, image[None])["conv2d_1"][0]
    seen = found[..., 1]
    np.testing.assert_allclose(shown(ax, 2, (28, 28)), grey(seen, seen.min(), seen.max()), atol=1)
    assert count(views.feature_maps(lenet, image, "maxpool2d_2", ax=Figure().add_subplot())) == 17
    with pytest.raises(ValueError, match=r"\(28, 28, 1\) is wanted, not \(1, 28, 28, 1\)"):
        views.feature_maps(lenet, image[None], ax=ax)
    with pytest.raises(ValueError, match="no layer 'linear_1' that gives maps; there are conv2d_1"):
        views.feature_maps(lenet, image, "linear_1", ax=ax)
