import numpy as np
import pytest

from dtnn.data import batches, global_batch, permutation, shares


def parts(total, batch_size, ranks, epoch=0):
    """Which samples each rank gets in one epoch, batch by batch."""
    return [[batch[a : a + n] for a, n in shares(len(batch), ranks)] for batch in batches(total, batch_size, seed=7, epoch=epoch)]


def test_permutation_is_the_same_on_every_platform():
    # The numbers are what ranks on different machines must agree on; they may change only together with the seeds' meaning.
    assert permutation(10, 0, 0).tolist() == [9, 0, 8, 2, 5, 1, 4, 6, 7, 3]


def test_epochs_and_seeds_differ_and_repeat():  # case 37
    orders = {(seed, epoch): tuple(permutation(50, seed, epoch)) for seed in range(3) for epoch in range(3)}
    assert len(set(orders.values())) == 9
    assert all(sorted(order) == list(range(50)) for order in orders.values())
    assert tuple(permutation(50, 1, 2)) == orders[1, 2]


def test_permutation_is_fair():
    places = np.array([permutation(8, seed, 0) for seed in range(4000)])
    counts = np.array([np.bincount(places[:, place], minlength=8) for place in range(8)])
    assert np.abs(counts - 500).max() < 5 * np.sqrt(500 * 7 / 8)  # five standard deviations, 64 counts


@pytest.mark.parametrize(
    ("count", "ranks", "expected"), [(10, 3, [4, 3, 3]), (2, 3, [1, 1, 0]), (2, 4, [1, 1, 0, 0]), (0, 2, [0, 0])]
)
def test_shares_are_balanced_and_in_a_row(count, ranks, expected):  # cases 34, 36
    got = shares(count, ranks)
    assert [n for _, n in got] == expected
    assert [first for first, _ in got] == np.cumsum([0, *expected[:-1]]).tolist()


@pytest.mark.parametrize(("total", "batch_size", "ranks"), [(10, 8, 4), (10, 4, 3), (7, 4, 4), (100, 32, 8), (1, 4, 4)])
def test_each_sample_once_an_epoch_and_the_same_number_of_steps(total, batch_size, ranks):  # cases 32, 34
    steps = parts(total, batch_size, ranks)
    assert {len(step) for step in steps} == {ranks}
    assert sorted(np.concatenate([part for step in steps for part in step])) == list(range(total))
    assert all(len(part) > 0 for step in steps[:-1] for part in step)  # only a last batch may leave a rank without work


def test_ranks_together_see_what_one_rank_sees():
    alone = [step[0] for step in parts(23, 8, 1, epoch=3)]
    assert all(np.array_equal(np.concatenate(step), whole) for step, whole in zip(parts(23, 8, 3, epoch=3), alone))


def test_global_batch_smaller_than_ranks_is_refused():  # case 36
    with pytest.raises(ValueError, match=r"batch_size=2 .* 4 ranks.* Use batch_size=4 or more"):
        global_batch(100, 4, batch_size=2)


def test_both_batch_sizes_are_refused():
    with pytest.raises(ValueError, match=r"batch_size=32 and batch_size_per_rank=8 .* both given.* 16 over 2 ranks"):
        global_batch(100, 2, 32, 8)


@pytest.mark.parametrize("bad", [0, -3])
def test_batch_size_must_be_positive(bad):
    with pytest.raises(ValueError, match=rf"batch_size={bad}: give a whole number of at least 1"):
        global_batch(100, 1, bad)
    with pytest.raises(ValueError, match=rf"batch_size_per_rank={bad}: give a whole number of at least 1"):
        global_batch(100, 1, None, bad)


@pytest.mark.parametrize("bad", [32.0, "32"])
def test_batch_size_must_be_whole(bad):
    with pytest.raises(TypeError, match=rf"batch_size={bad!r}: give a whole number"):
        global_batch(100, 1, bad)


def test_global_batch():
    assert global_batch(4000, 4) == 32
    assert global_batch(4000, 4, np.int64(64)) == 64
    assert global_batch(4000, 4, batch_size_per_rank=8) == 32
    assert global_batch(2, 4, 32) == 2  # then the only batch is the last one, and ranks 2 and 3 have nothing
