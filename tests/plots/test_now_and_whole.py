"""The bars of now beside those of the whole run."""

import pytest
from matplotlib.figure import Figure

from dtnn.plots.now_and_whole import NowAndWhole
from dtnn.plots.story import FEW, NOW, Story
from dtnn.plots.totals import totals
from dtnn.records import Ledger


def ledger(rank, time, wait, transfer=0.0):
    return Ledger(rank, int(10 * time), 1, 32, 0, 0.0, 0.0, 1.0 - wait - transfer, wait, transfer, 0.0, 1.0, time)


def shown(records):
    both = NowAndWhole(*Figure().subplots(1, 2))
    both.show(Story(records))
    return both


def test_a_run_that_changes_has_other_bars_now_than_since_its_start():
    records = [ledger(rank, n / 10, 0.5 if n < 80 else 0.0) for n in range(100) for rank in (0, 1)]
    both = shown(records)
    assert [ax.get_title("left") for ax in both.axes] == ["Each rank's time, the last 2 s", "Each rank's time since the start"]
    now, whole = (bars.bars["wait"][1].get_width() for bars in (both.now, both.whole))
    assert now == pytest.approx(100 * 0.5 / 21)
    assert whole == pytest.approx(40.0)


def test_now_is_the_last_seconds_of_each_rank_and_its_memory_is_bounded():
    story = Story([ledger(0, n / 10, 0.5) for n in range(100)] + [ledger(1, 1.0, 0.5)])
    assert story.now[0]["steps"] == round(10 * NOW) + 1
    assert story.now[1]["steps"] == 1
    assert story.time[0]["steps"] == 100
    assert totals(story, now=True)[0]["own"] == pytest.approx(10.5)
    crowd = Story([ledger(0, n / 10_000, 0.5) for n in range(3 * FEW)])
    assert crowd.now[0]["steps"] == FEW


def test_one_legend_tells_what_is_in_either():
    early = [ledger(0, n / 10, 0.0) for n in range(90)]
    late = [Ledger(0, 900 + n, 1, 32, 0, 0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 1.0, 9.5 + n / 100, pack=0.1) for n in range(2)]
    both = shown([*early, *late])
    assert "pack" in {text.get_text() for text in both.now.ax.get_legend().get_texts()}
    assert both.whole.ax.get_legend() is None
    assert not any(label.get_text() for label in both.whole.ax.get_yticklabels())


def test_without_records_both_say_so():
    both = shown([])
    assert all("after the first steps" in [text.get_text() for text in ax.texts] for ax in both.axes)
