import pickle

import numpy as np
import pytest

from dtnn.data import Dataset, Flip, Samples, batch_last, check_inputs, inputs, labels, samples

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 5, 4, 3), dtype=np.uint8)
ROWS = np.random.default_rng(1).normal(size=(6, 7)).astype(np.float32)
LABELS = np.array([2, 1, 0, 2, 1, 0])


def test_uint8_is_scaled_while_gathered():
    x, y = Samples(IMAGES, LABELS).gather(np.array([4, 0]))
    assert x.dtype == np.float32
    assert x.flags.c_contiguous
    np.testing.assert_allclose(x, IMAGES[[4, 0]].transpose(3, 1, 2, 0) / 255, rtol=1e-6)
    assert y.tolist() == [1, 2]


def test_float32_is_taken_as_it_is():
    some = Samples(ROWS, LABELS)
    assert some.x is ROWS
    x, _ = some.gather(np.array([1, 3, 5]))
    assert np.array_equal(x, ROWS[[1, 3, 5]].T)


def test_gather_writes_into_the_buffer_it_is_given():
    out = np.full((7, 2), np.nan)
    x, _ = Samples(ROWS, LABELS).gather(np.array([0, 1]), out)
    assert x is out
    assert np.array_equal(out, ROWS[:2].T.astype(np.float64))


def test_sequences_of_vectors_are_turned_too():
    x = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)  # (N, T, D)
    assert np.array_equal(Samples(x).gather_inputs(np.array([1, 0])), x[[1, 0]].transpose(2, 1, 0))
    assert batch_last((3, 5), 2) == (5, 3, 2)


def test_layout_of_the_users_array_does_not_matter():
    for x in (
        np.asfortranarray(IMAGES),
        IMAGES.transpose(0, 2, 1, 3).copy().transpose(0, 2, 1, 3),
        np.repeat(IMAGES, 2, axis=0)[::2],
    ):
        assert np.array_equal(Samples(x, LABELS).gather(np.arange(6))[0], Samples(IMAGES, LABELS).gather(np.arange(6))[0])


def test_float64_is_converted_with_a_note():
    with pytest.warns(UserWarning, match=r"x_train is float64 .*x_train.astype\(np.float32\)"):
        some = Samples(ROWS.astype(np.float64), LABELS, part="_train")
    assert some.x.dtype == np.float32


def test_whole_numbers_are_tokens():
    some = Samples(np.array([[5, 1, 0], [2, 2, 7]], np.int64), [0, 1])
    assert some.tokens
    x, _ = some.gather(np.array([1, 0]))
    assert x.dtype == np.int32
    assert x.tolist() == [[2, 5], [2, 1], [7, 0]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, bool, np.float16, np.complex64, "U1"])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(TypeError, match=rf"x has dtype {np.dtype(dtype)}.*astype\(np.uint8\).*astype\(np.float32\)"):
        Samples(np.zeros((2, 3)).astype(dtype), [0, 1])


def test_negative_tokens_are_refused():
    with pytest.raises(ValueError, match=r"x\[1, 0\] is -1: .*tokens.*x.astype\(np.float32\)"):
        Samples([[0, 1], [-1, 2]], [0, 1])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_first_value_that_is_not_finite_is_named(bad):
    x = np.zeros((70, 50, 40, 40), np.float32)  # more than is looked at in one go
    x[69, 3, 2, 1] = x[69, 4, 0, 0] = bad
    with pytest.raises(ValueError, match=rf"x\[69, 3, 2, 1\] is {bad}: .*np.nan_to_num\(x\)"):
        Samples(x)


def test_too_large_for_float32_is_refused_and_not_made_infinite():
    with pytest.warns(UserWarning, match="float64"), pytest.raises(ValueError, match=r"x\[0, 1\] is inf"):
        Samples(np.array([[1.0, 1e300]]), [0])


def test_ragged_input_is_refused():
    ragged = np.empty(2, object)
    ragged[:] = [[1, 2], [3]]
    with pytest.raises(TypeError, match=r"x is no regular array.*Crop or pad"):
        Samples(ragged, [0, 1])


def test_empty_and_flat_inputs_are_refused():
    with pytest.raises(ValueError, match=r"x_train is empty \(shape \(0, 3\)\): at least one sample"):
        Samples(np.zeros((0, 3), np.float32), [], part="_train")
    with pytest.raises(ValueError, match=r"x is empty \(shape \(0, 3\)\): at least one sample"):
        Samples(np.zeros((4, 3), np.float32), [0, 1, 0, 1])[:0].suit((3,), 2)
    with pytest.raises(ValueError, match=r"x has shape \(3,\): .*x.reshape\(-1, 1\)"):
        Samples(np.zeros(3, np.float32), [0, 0, 0])


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"x_train has 6 samples, y_train has 5: each sample needs its own"):
        Dataset(ROWS, LABELS[:5])


@pytest.mark.parametrize(
    ("x", "input_shape", "remedy"),
    [
        (np.zeros((2, 28, 28), np.uint8), (28, 28, 1), r"x\[..., np.newaxis\]"),
        (np.zeros((2, 784), np.uint8), (28, 28, 1), r"x.reshape\(-1, 28, 28, 1\)"),
        (np.zeros((2, 3, 32, 32), np.uint8), (32, 32, 3), r"x.transpose\(0, 2, 3, 1\)"),
        (np.zeros((28, 28, 1), np.uint8), (28, 28, 1), r"x\[np.newaxis\]"),
        (np.zeros((2, 32, 32, 3), np.uint8), (28, 28, 1), r"input_shape=\(32, 32, 3\)"),
    ],
)
def test_another_shape_than_the_models_is_refused_with_the_way_out(x, input_shape, remedy):
    have, want = (str(shape).replace("(", r"\(").replace(")", r"\)") for shape in (x.shape[1:], input_shape))
    with pytest.raises(ValueError, match=f"x has samples of shape {have}, the model takes {want}: .*{remedy}"):
        Samples(x).suit(input_shape)


def test_tokens_only_for_a_model_that_begins_with_embedding():
    with pytest.raises(TypeError, match=r"x has whole numbers.*Embedding.*x.astype\(np.uint8\)"):
        check_inputs(inputs([[1, 2, 3]]), (3,))
    with pytest.raises(TypeError, match=r"x has dtype float32, but the model begins with Embedding.*x.astype\(np.int32\)"):
        check_inputs(ROWS, (7,), tokens=True)
    check_inputs(inputs([[1, 2, 3]]), (3,), tokens=True)


@pytest.mark.parametrize(
    "y", [[2, 1], [[2], [1]], [2.0, 1.0], [[2.0], [1.0]], [[0, 0, 1], [0, 1, 0]], [[0.0, 0, 1], [0, 1, 0]]], ids=repr
)
def test_all_forms_of_labels_mean_the_same(y):  # case 69
    got = Samples(ROWS[:2], y).suit((7,), classes=3).y
    assert got.tolist() == [2, 1]
    assert got.dtype == np.int64


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 3, 1], r"y_train\[1\] is 3, but with 3 classes the labels go from 0 to 2.*one output a class"),
        ([0, -1, 1], r"y_train\[1\] is -1, but .* from 0 to 2"),
        ([1, 2, 3], r"y_train\[2\] is 3, .*Count them from 0: y_train - 1"),
        ([0, 1.5, 1], r"y_train\[1\] is 1.5: labels are whole numbers.*loss=mse"),
        ([[1, 0, 0], [0, 0, 0], [0, 1, 0]], r"y_train\[1\] is \[0 0 0\]: a one-hot row has a single 1"),  # case 68
        ([[1, 0, 0], [0, 1, 0], [0, 1, 1]], r"y_train\[2\] is \[0 1 1\]: a one-hot row"),
        ([[1, 0], [0, 1], [0, 1]], r"y_train has rows of 2 numbers, but there are 3 classes"),
        (np.zeros((3, 1, 1), int), r"y_train has shape \(3, 1, 1\): labels are one whole number a sample"),
    ],
)
def test_wrong_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        Samples(ROWS[:3], y, part="_train").suit((7,), classes=3)


def test_targets_must_be_finite_numbers():
    with pytest.raises(ValueError, match=r"y\[1, 0\] is nan"):
        Samples(ROWS[:2], [0.0, np.nan])
    with pytest.raises(TypeError, match=r"y has dtype <U3: .*np.unique\(y, return_inverse=True\)"):
        Samples(ROWS[:2], ["cat", "dog"])


def test_numbers_to_predict_stay_batch_first():
    y = np.arange(12.0).reshape(6, 2)
    _, got = Samples(ROWS, y).gather(np.array([5, 0, 1]))
    assert got.dtype == np.float32
    assert np.array_equal(got, y[[5, 0, 1]])
    assert Samples(ROWS, y).gather(np.array([5]), np.empty((7, 1)), np.float64)[1].dtype == np.float64
    assert Samples(ROWS, y[:, 0]).gather(np.array([2]))[1].tolist() == [[4.0]]


def test_whatever_fit_takes():
    data = Dataset(ROWS, LABELS, ROWS[:2], LABELS[:2])
    assert samples(data) is data.train
    assert samples(data, part="test") is data.test
    assert samples(data.train) is data.train
    for given in (samples(ROWS, LABELS), samples((ROWS, LABELS)), samples([ROWS, LABELS])):
        assert given.x is ROWS
        assert given.y.tolist() == LABELS.tolist()
    with pytest.raises(TypeError, match=r"data is a ndarray without targets: pass a Dataset .*pair \(x, y\)"):
        samples(ROWS)
    with pytest.raises(ValueError, match=r"blank has no test part.*x_test="):
        samples(Dataset(ROWS, LABELS, name="blank"), part="test")


def test_a_slice_is_samples_too():
    part = Samples(IMAGES, LABELS)[2:4]
    assert len(part) == 2
    assert part.y.tolist() == [0, 2]
    assert part.scale == 1 / 255


def test_pickles_whole():
    again = pickle.loads(pickle.dumps(Samples(IMAGES, LABELS)))
    assert np.array_equal(again.x, IMAGES)
    assert again.scale == 1 / 255


def test_labels_of_one_class_count():
    assert labels([0, 0], 1).tolist() == [0, 0]


def test_a_part_of_samples_is_contiguous_and_keeps_the_batch_axis():
    some = Samples(IMAGES, LABELS)
    assert some[::2].x.flags.c_contiguous
    assert some[::2].y.tolist() == [2, 0, 1]
    assert some[3].x.shape == (1, 5, 4, 3)
    assert some[np.array([True, False, False, False, False, True])].y.tolist() == [2, 0]


def test_no_image_at_all_is_gathered():
    """A share of a last batch may be empty."""
    few = Samples(np.zeros((3, 4, 5, 2), np.float32), [0, 1, 2], augment=(Flip(),))
    x, y = few.gather(np.arange(0), key=(0, 1))
    assert x.shape == (2, 4, 5, 0)
    assert y.shape == (0,)
