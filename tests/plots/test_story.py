"""What pictures are told of a run."""

import math

from dtnn.plots.bins import Bins
from dtnn.plots.story import Story
from dtnn.records import Ledger, Recorder, Step


def test_reading_in_pieces_is_reading_at_once(run_of):
    records = run_of()
    at_once, in_pieces = Story(records), Story()
    for end in range(0, len(records) + 1, 7):
        in_pieces.read(records[:end])
    in_pieces.read(records)
    assert not in_pieces.read(records)
    assert in_pieces.time == at_once.time
    assert (in_pieces.steps.x, in_pieces.steps.y) == (at_once.steps.x, at_once.steps.y)
    assert in_pieces.rate == at_once.rate
    assert in_pieces.epochs == at_once.epochs


def test_a_list_that_became_shorter_is_read_again(run_of):
    story = Story(run_of())
    story.read(run_of()[:10])
    assert story.step.step == len([record for record in run_of()[:10] if isinstance(record, Step)])


def test_each_ranks_seconds_are_the_sum_of_its_ledgers(run_of):
    records = run_of(ranks=3)
    for rank, account in Story(records).time.items():
        own = [record for record in records if isinstance(record, Ledger) and record.rank == rank]
        for phase in ("data", "forward", "backward", "wait", "transfer", "update"):
            assert math.isclose(account[phase], sum(getattr(record, phase) for record in own))
        parts = sum(account[name] for name in ("data", "forward", "backward", "wait", "transfer", "update", "other"))
        assert math.isclose(parts, account["seconds"])


def test_bins_keep_exact_means_however_long_the_run():
    bins = Bins(limit=64)
    for i in range(1, 64 * 16 + 1):
        bins.add(i, float(i))
    assert len(bins) <= 64
    assert bins.x == bins.y
    assert math.isclose(sum(bins.y) / len(bins), (64 * 16 + 1) / 2)


def test_a_loss_that_is_no_number_is_a_gap():
    bins = Bins(limit=4)
    for value in (1.0, math.nan, math.inf, 2.0):
        bins.add(0, value)
    assert [math.isnan(value) for value in bins.y] == [False, True, True, False]


def test_rate_is_of_the_last_steps():
    steps = [Step(i, 1, 1.0, 10, 0.1, 1.0 if i <= 100 else 0.5, i) for i in range(1, 151)]
    assert Story(steps).rate == 20.0


def test_epochs_are_known_before_the_first_one_has_ended(run_of):
    story = Story(run_of()[:20])
    assert story.steps_per_epoch == 63
    story.start.settings.update(samples=100, batch_size=30)
    assert story.steps_per_epoch == 4
    story.start.settings.clear()
    assert story.steps_per_epoch is None


def test_nothing_is_told_of_nothing():
    story = Story(Recorder())
    assert (story.rate, story.metric, story.latest("loss"), story.progress, story.ranks) == (None, None, None, 0.0, 0)
