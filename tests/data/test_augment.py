import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from dtnn.data import Cutout, Dataset, Flip, Samples, Shift, batches, mnist5k, shares
from dtnn.data.augment import Draw

IMAGES = np.random.default_rng(0).integers(1, 256, (40, 8, 6, 3), dtype=np.uint8)
LABELS = np.arange(40) % 2


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_number_of_ranks_does_not_matter(ranks):  # case 38
    some = Samples(IMAGES, LABELS, augment=(Flip(), Shift(2), Cutout(3)))
    for step, batch in enumerate(batches(40, 16, seed=5)):
        whole, _ = some.gather(batch, key=(5, step))
        parts = [some.gather(batch[a : a + n], key=(5, step))[0] for a, n in shares(len(batch), ranks)]
        assert np.array_equal(np.concatenate(parts, axis=-1), whole)


def test_steps_and_seeds_differ_and_repeat():
    some, rows = Samples(IMAGES, augment=(Flip(), Shift(2))), np.arange(40)
    gathered = {key: some.gather_inputs(rows, key=key).tobytes() for key in [(0, 0), (0, 1), (1, 0)]}
    assert len(set(gathered.values())) == 3
    assert some.gather_inputs(rows, key=(0, 1)).tobytes() == gathered[0, 1]


def test_evaluation_is_not_augmented_nor_is_the_data_set_changed():
    before = IMAGES.copy()
    data = Dataset(IMAGES, LABELS, IMAGES, LABELS, augment=[Shift(2)])
    data.train.gather(np.arange(40), key=(0, 0))
    assert np.array_equal(data.train.gather_inputs(np.arange(40)), Samples(IMAGES).gather_inputs(np.arange(40)))
    assert data.test.augment == ()
    assert np.array_equal(IMAGES, before)


def test_flip():
    images = Flip()(IMAGES.copy(), Draw((0,), np.arange(40)))
    flipped = [np.array_equal(a, b[:, ::-1]) for a, b in zip(images, IMAGES)]
    kept = [np.array_equal(a, b) for a, b in zip(images, IMAGES)]
    assert all(a != b for a, b in zip(flipped, kept))
    assert 8 < sum(flipped) < 32  # half of 40, within four standard deviations
    assert np.array_equal(Flip(0.0)(IMAGES.copy(), Draw((0,), np.arange(40))), IMAGES)


def test_shift_moves_and_fills_with_zeros():
    images = Shift(2)(IMAGES.copy(), Draw((0,), np.arange(40)))
    padded, offsets = np.pad(IMAGES, ((0, 0), (2, 2), (2, 2), (0, 0))), set()
    for k, image in enumerate(images):
        found = [(i, j) for i in range(5) for j in range(5) if np.array_equal(image, padded[k, i : i + 8, j : j + 6])]
        assert len(found) == 1
        offsets |= set(found)
    assert {i for i, _ in offsets} == {j for _, j in offsets} == {0, 1, 2, 3, 4}


def test_cutout_takes_a_square_away():
    images = Cutout(4)(IMAGES.copy(), Draw((0,), np.arange(40)))
    for image, before in zip(images, IMAGES):
        rows, columns, _ = np.nonzero(image != before)
        assert 2 * 2 * 3 <= len(rows) <= 4 * 4 * 3  # at a corner a quarter of it is inside
        height, width = np.ptp(rows) + 1, np.ptp(columns) + 1
        assert len(rows) == height * width * 3
        assert not image[image != before].any()


def test_draws_are_uniform_and_independent():
    draw = Draw((1, 2), np.arange(5000))
    first, second = draw(3), draw(3)
    together = np.concatenate([first, second], axis=1)
    assert together.min() >= 0
    assert together.max() < 1
    assert np.abs(together.mean(axis=0) - 0.5).max() < 5 * np.sqrt(1 / 12 / 5000)
    assert np.abs(np.corrcoef(together.T) - np.eye(6)).max() < 5 / np.sqrt(5000)
    assert abs(np.corrcoef(first[:-1, 0], first[1:, 0])[0, 1]) < 5 / np.sqrt(5000)  # neighbouring samples
    steps = [Draw((1, step), np.arange(5000))()[:, 0] for step in range(3)]
    assert np.abs(np.corrcoef(steps) - np.eye(3)).max() < 5 / np.sqrt(5000)


def test_a_function_of_ones_own():
    def darker(images, draw):
        return images // 2

    some = Samples(IMAGES, augment=(darker,))
    assert np.array_equal(some.gather_inputs(np.arange(3), key=(0, 0)), Samples(IMAGES // 2).gather_inputs(np.arange(3)))


def test_a_function_that_changes_the_shape_is_named():
    @dataclass
    class Crop:
        def __call__(self, images, draw):
            return images[:, 1:]

    with pytest.raises(
        ValueError, match=r"augment: .*Crop\(\) made an array of shape \(2, 7, 6, 3\) from one of \(2, 8, 6, 3\).*same shape"
    ):
        Samples(IMAGES, augment=(Crop(),)).gather_inputs(np.arange(2), key=(0, 0))


def test_a_function_that_changes_the_type_is_named():
    def brighter(images, draw):
        return images * 1.5

    with pytest.raises(TypeError, match=r"augment: .*brighter.* made an array of float64 from one of uint8.*np.clip"):
        Samples(IMAGES, augment=(brighter,)).gather_inputs(np.arange(2), key=(0, 0))


def test_augmented_sets_travel_as_a_call_and_leave_the_original_alone():
    data = mnist5k().augmented(Shift(2))
    assert data.train.augment == (Shift(2),)
    assert mnist5k().train.augment == ()
    message = pickle.dumps(data)
    assert len(message) < 400
    again = pickle.loads(message)
    rows = np.arange(5)
    assert np.array_equal(again.train.gather_inputs(rows, key=(0, 3)), data.train.gather_inputs(rows, key=(0, 3)))
    assert pickle.loads(pickle.dumps(again)).train.augment == (Shift(2),)


@pytest.mark.parametrize(
    ("augment", "error", "text"),
    [
        (5, TypeError, "augment: 5 is no function"),
        (Flip, TypeError, "augment: <class .*Flip'> is no function"),
        (
            Shift(2),
            ValueError,
            r"Shift\(pixels=2\) changes images \(N, H, W, C\), but the inputs have shape \(6, 4\); reshape them",
        ),
    ],
)
def test_what_can_not_augment_is_told_before_a_training(augment, error, text):
    rows, labels = np.zeros((6, 4), np.float32), np.arange(6) % 2
    with pytest.raises(error, match=text):
        Dataset(rows, labels, augment=[augment])
    with pytest.raises(error, match=text):
        Dataset(rows, labels).augmented(augment)
