"""Mini-batches of one size, one after the other in one buffer: what lies there is what `Samples.gather` gives."""

import threading

import numpy as np
import pytest

from dtnn import machine
from dtnn.data import Samples
from dtnn.training.inputs import Inputs

RNG = np.random.default_rng(0)
KINDS = {
    "images": RNG.random((40, 28, 28, 1), np.float32),
    "bytes": RNG.integers(0, 256, (40, 9, 7, 3), np.uint8),
    "rows": RNG.random((40, 300), np.float32),
    "tokens": RNG.integers(0, 50, (40, 12)),
}


def draws(count, times=6):
    return [np.random.default_rng(number).permutation(40)[:count] for number in range(times)]


def flipped_at_times(images, draw):
    return np.ascontiguousarray(np.where(draw()[:, :, None, None] < 0.5, images[:, :, ::-1], images))


@pytest.mark.parametrize("count", [0, 1, 16, 17, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_each_batch_is_that_of_its_indices(kind, dtype, count):
    samples = Samples(KINDS[kind], RNG.integers(0, 3, 40))
    inputs = Inputs(samples, count, dtype)
    for step, indices in enumerate(draws(count)):
        x, targets = inputs.gather(indices, (0, step))
        expected, labels = samples.gather(indices, dtype=dtype)
        assert x.dtype == expected.dtype
        np.testing.assert_array_equal(x, expected)
        np.testing.assert_array_equal(targets, labels)


def test_what_was_changed_in_the_data_counts_from_the_next_batch_on():
    samples = Samples(KINDS["rows"].copy(), np.zeros(40, np.int64))
    inputs, indices = Inputs(samples, 16, np.float32), np.arange(16)
    for _ in range(2):
        inputs.gather(indices, (0, 1))
    samples.x[3] = 7
    assert (inputs.gather(indices, (0, 1))[0][:, 3] == 7).all()


def test_augmentation_is_drawn_anew_in_each_step():
    samples = Samples(KINDS["images"], np.zeros(40, np.int64), augment=(flipped_at_times,))
    inputs, indices = Inputs(samples, 32, np.float32), np.arange(32)
    found = [inputs.gather(indices, (0, step))[0].copy() for step in (1, 2, 1)]
    assert not np.array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_other_threads_and_another_number_of_them_get_the_same():
    samples = Samples(np.random.default_rng(1).random((64, 40, 40, 1), np.float32), np.zeros(64, np.int64))
    inputs, found = Inputs(samples, 64, np.float32), []

    def work(number):
        with machine.threads(number):
            for turn in range(3):
                indices = np.roll(np.arange(64), turn)
                found.append(np.array_equal(inputs.gather(indices, (0, 1))[0], samples.gather(indices)[0]))

    for number in (1, 2, 1):
        work(number)
        thread = threading.Thread(target=work, args=(number,))
        thread.start()
        thread.join()
    assert found == [True] * 18
