import importlib.util
import pickle
from pathlib import Path

import numpy as np
import pytest

from dtnn.data import Dataset, mnist5k

X, Y = np.zeros((4, 2), np.float32), [0, 1, 1, 0]


def test_mnist5k_is_what_it_says():
    data = mnist5k()
    assert (data.x_train.shape, data.x_test.shape) == ((4000, 28, 28, 1), (1000, 28, 28, 1))
    assert data.x_train.dtype == np.uint8
    assert np.bincount(data.y_train).tolist() == [400] * 10
    assert np.bincount(data.y_test).tolist() == [100] * 10
    assert data.y_train[:12].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
    both = np.concatenate([data.x_train, data.x_test]).reshape(5000, -1)
    assert len(np.unique(both, axis=0)) == 5000  # no test digit is among the training digits
    assert (data.input_shape, data.scale, len(data.classes)) == ((28, 28, 1), 1 / 255, 10)


def test_mnist5k_is_small_and_remembered():
    assert (Path(__file__).parents[2] / "dtnn" / "data" / "mnist5k.npz").stat().st_size < 1_000_000
    assert mnist5k() is mnist5k()


def test_mnist5k_pickles_as_a_call():
    message = pickle.dumps(mnist5k())
    assert len(message) < 200
    assert pickle.loads(message) is mnist5k()


def test_shared_arrays_cannot_be_changed():
    # A change would be there in this process alone: engines make the data set themselves.
    with pytest.raises(ValueError, match="read-only"):
        mnist5k().x_train[0] = 0


def test_mnist5k_comes_from_the_source_by_its_rule(tmp_path):
    spec = importlib.util.spec_from_file_location("make", Path(__file__).parents[2] / "tools" / "make_mnist5k.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    images = np.random.default_rng(0).integers(0, 256, (5000, 784)).astype(float)
    source = np.repeat(np.arange(10), 500)
    arrays = make.split(images, source)
    assert np.array_equal(
        arrays["x_test"].reshape(-1, 784)[arrays["y_test"] == 3], images[1900:2000]
    )  # the last 100 of the threes
    assert np.array_equal(arrays["x_train"].reshape(-1, 784)[arrays["y_train"] == 3], images[1500:1900])
    for name in ("one", "two"):
        make.write(tmp_path / name, arrays)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert b"\x00\x00\x21\x00" in (tmp_path / "one").read_bytes()[:40]  # 1 January 1980, midnight: no time of day
    with np.load(tmp_path / "one") as kept:
        assert np.array_equal(kept["x_train"], arrays["x_train"])


def test_other_sets_pickle_with_their_arrays():
    again = pickle.loads(pickle.dumps(Dataset(X, Y, X[:1], Y[:1], name="mine", classes=("no", "yes"))))
    assert np.array_equal(again.x_train, X)
    assert (again.name, again.classes, again.y_test.tolist()) == ("mine", ("no", "yes"), [0])


def test_labels_are_checked_against_the_classes():
    with pytest.raises(ValueError, match=r"y_test\[0\] is 2, but with 2 classes"):
        Dataset(X, Y, X[:1], [2], classes=2)


def test_half_a_test_set_is_refused():
    with pytest.raises(ValueError, match=r"y_test is None, but its partner is given.*both"):
        Dataset(X, Y, X)


def test_parts_that_do_not_match_are_refused():
    with pytest.raises(TypeError, match=r"x_train is float32, x_test is uint8: .*x_test.astype\(x_train.dtype\)"):
        Dataset(X, Y, X.astype(np.uint8), Y)
    with pytest.raises(ValueError, match=r"x_train has samples of shape \(2,\), x_test of \(1,\).*reshape"):
        Dataset(X, Y, X[:, :1], Y)


def test_a_set_without_targets_is_refused():
    with pytest.raises(ValueError, match=r"y_train is None: .*model.predict"):
        Dataset(X, None)


def test_shows_itself():
    data = Dataset(X, Y, name="<mine>", classes=2, scale=0.5)
    assert repr(data) == "Dataset <mine>: 2 classes, samples (2,) float32 x 0.5\n  train  4 samples, 2 a class"
    assert "&lt;mine&gt;" in data._repr_html_()
    assert "<td>train</td><td>4</td>" in data._repr_html_()
    assert "targets (1,) float32" in repr(Dataset(X, [0.5, 1, 2, 3]))
    assert "1 to 3 a class" in repr(Dataset(X, [0, 1, 1, 1]))
