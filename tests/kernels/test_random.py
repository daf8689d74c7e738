"""The counter-based bits: fair, unrelated from neighbour to neighbour, and independent of how a batch is split."""

import numpy as np

from dtnn.kernels import random


def correlation(a, b):
    return abs(np.corrcoef(a.reshape(-1), b.reshape(-1))[0, 1])


def test_uniform_is_flat():
    u = random.uniform(random.stream(0, 1, 2), 300, 0, 300)
    counts = np.bincount((u.reshape(-1) * 32).astype(int), minlength=32)
    chi_square = ((counts - u.size / 32) ** 2 / (u.size / 32)).sum()
    assert u.min() >= 0
    assert u.max() < 1
    assert chi_square < 62  # 31 degrees of freedom: 1 in 1,000


def test_every_bit_is_fair():
    b = random.bits(random.stream(3), 256, 0, 256).reshape(-1)
    shares = [((b >> k) & 1).mean() for k in range(32)]
    assert max(abs(s - 0.5) for s in shares) < 4.5 * 0.5 / 256


def test_neighbours_are_unrelated():
    u = random.uniform(random.stream(0, 5, 0), 200, 0, 200)
    limit = 4.5 / 200
    assert correlation(u[1:], u[:-1]) < limit  # elements
    assert correlation(u[:, 1:], u[:, :-1]) < limit  # samples
    assert correlation(u[1:, 1:], u[:-1, :-1]) < limit
    for keys in ((0, 6, 0), (0, 5, 1), (1, 5, 0)):  # step, layer, seed
        assert correlation(u, random.uniform(random.stream(*keys), 200, 0, 200)) < limit


def test_a_split_batch_draws_the_same_numbers():
    key = random.stream(9)
    whole = random.bits(key, 10, 0, 33)
    parts = [random.bits(key, 10, first, count) for first, count in ((0, 1), (1, 16), (17, 16))]
    np.testing.assert_array_equal(np.concatenate(parts, 1), whole)


def test_permutation_is_one_and_depends_on_its_keys():
    a = random.permutation(1000, 0, 1)
    assert sorted(a) == list(range(1000))
    np.testing.assert_array_equal(a, random.permutation(1000, 0, 1))
    assert (a != random.permutation(1000, 0, 2)).mean() > 0.99
    assert random.permutation(0, 0).size == 0
    places = np.array([random.permutation(5, seed)[0] for seed in range(2000)])
    assert np.abs(np.bincount(places, minlength=5) / 2000 - 0.2).max() < 0.04
