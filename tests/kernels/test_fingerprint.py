"""64 bits for an array: any bit counts, and so does its place."""

import numpy as np
import pytest

from dtnn.kernels.fingerprint import fingerprint

WORD = (1 << 64) - 1


def stirred(x):
    """SplitMix64's finaliser of x + c, in Python's integers."""
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & WORD
    return x ^ x >> 31


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 64, 1003])
def test_it_is_the_sum_that_it_says(size):
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    words = [int.from_bytes(data[i : i + 8].tobytes(), "little") for i in range(0, size // 8 * 8, 8)]
    rest = data[len(words) * 8 :]
    total = sum(stirred((w + i * 0x9E3779B97F4A7C15) & WORD) for i, w in enumerate(words))
    total += stirred(5 + len(words)) + stirred(int.from_bytes(rest.tobytes(), "little") + (rest.size << 56))
    assert fingerprint(data, 5) == total & WORD


@pytest.mark.parametrize("size", [1, 8, 13, 320])
def test_each_bit_counts(size):
    data = np.random.default_rng(0).integers(0, 256, size, np.uint8)
    seen = {fingerprint(data)}
    for bit in range(8 * size):
        data[bit // 8] ^= 1 << bit % 8
        seen.add(fingerprint(data))
        data[bit // 8] ^= 1 << bit % 8
    assert len(seen) == 8 * size + 1


def test_places_and_lengths_count():
    a = np.arange(1.0, 65.0)
    others = [a[::-1], np.roll(a, 1), a[:-1], np.append(a, 0.0), np.append(a.view(np.uint8), 0), a.astype(np.float32), -a, a * 0]
    assert len({fingerprint(b) for b in [a, *others]}) == len(others) + 1


def test_what_came_before_counts():
    a, b = np.ones(10), np.zeros(10)
    assert len({fingerprint(b, fingerprint(a)), fingerprint(a, fingerprint(b)), fingerprint(a), fingerprint(b)}) == 4


def test_bytes_alone_count_wherever_they_lie():
    memory = np.zeros(1000, np.uint8)
    expected = fingerprint(np.arange(99, dtype=np.float32))
    for start in (0, 1, 4, 12):
        place = memory[start : start + 396]
        place[:] = np.arange(99, dtype=np.float32).view(np.uint8)
        assert fingerprint(place) == expected
    turned = np.asfortranarray(np.arange(99, dtype=np.float32).reshape(9, 11))
    assert fingerprint(turned) == expected
