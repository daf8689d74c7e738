"""The bars of each rank's time, checked on the Axes' data."""

import math

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from dtnn.plots import breakdown, totals
from dtnn.plots.palette import COMMUNICATION, OWN, PHASES
from dtnn.records import Ledger


@pytest.fixture
def ax():
    return Figure().add_subplot()


def _width(ax, phase, row):
    colour = PHASES[phase].lower()
    return next(
        bar.get_width()
        for bar in ax.patches
        if to_hex(bar.get_facecolor()) == colour and round(bar.get_y() + bar.get_height() / 2) == row
    )


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_bars_are_the_seconds_of_the_ledgers(run_of, ax, ranks):
    records = run_of(ranks=ranks)
    breakdown(records, ax=ax)
    for row, (rank, time) in enumerate(totals(records).items()):
        assert rank == row
        for phase in (*OWN, *COMMUNICATION):
            assert math.isclose(_width(ax, phase, row), time[phase], abs_tol=1e-12)
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"rank {rank}" for rank in range(ranks)]


def test_per_cent_add_up_to_all(run_of, ax):
    breakdown(run_of(ranks=2), ax=ax, unit="percent")
    for row in (0, 1):
        assert math.isclose(sum(_width(ax, phase, row) for phase in PHASES), 100.0)


def test_own_work_and_communication_are_the_whole(run_of):
    for time in totals(run_of(ranks=3)).values():
        assert math.isclose(time["own"] + time["communication"], time["seconds"])
        assert math.isclose(time["communication"], time["pack"] + time["wait"] + time["transfer"])


def test_communication_is_warm_and_lies_behind_own_work(run_of, ax):
    breakdown(run_of(), ax=ax)
    ends = {phase: bar.get_x() + bar.get_width() for phase, bar in zip((*OWN, *COMMUNICATION), ax.patches[::2])}
    assert max(ends[phase] for phase in OWN) <= min(ends[phase] for phase in COMMUNICATION)
    for phase in COMMUNICATION:
        red, _, blue = (int(PHASES[phase][i : i + 2], 16) for i in (1, 3, 5))
        assert red > blue


def test_bars_carry_the_other_unit_in_words(run_of, ax):
    breakdown([Ledger(0, 1, 1, 8, 4, 0.0, 0.25, 0.25, 0.1, 0.4, 0.0, 1.0, 0.0)], ax=ax)
    words = " ".join(text.get_text() for text in ax.texts)
    assert "own work 50 % · transfer 40 % · wait 10 %" in words
    assert "25 %" in words


def test_many_ranks_are_drawn_without_words(run_of, ax):
    breakdown(run_of(ranks=40), ax=ax)
    assert len(ax.get_yticks()) <= 8
    assert not any(text.get_text() for text in ax.texts)


def test_nothing_to_show_is_said(ax):
    breakdown([], ax=ax)
    assert any("first steps" in text.get_text() for text in ax.texts)


def test_unknown_unit_is_refused(ax):
    with pytest.raises(ValueError, match=r"'minutes'.*'seconds' or 'percent'"):
        breakdown([], ax=ax, unit="minutes")


def _overlapped():
    return [Ledger(0, 1, 1, 8, 4, 0.0, 0.2, 0.4, 0.1, 0.1, 0.1, 1.0, 0.0, pack=0.1, hidden=0.3)]


def test_hidden_communication_is_a_number_of_its_own_and_no_time_of_the_rank(ax):
    time = totals(_overlapped())[0]
    assert time["hidden"] == 0.3
    assert math.isclose(time["own"], 0.7)
    assert math.isclose(time["communication"], 0.3)
    breakdown(_overlapped(), ax=ax)
    words = " ".join(text.get_text() for text in ax.texts)
    assert "own 70 · exposed 20 · wait 10 · hidden 30 %" in words
    assert {"pack", "hidden"} <= {text.get_text() for text in ax.get_legend().get_texts()}


def test_hidden_communication_lies_under_backward(ax):
    breakdown(_overlapped(), ax=ax)
    strip = ax.patches[-1]
    assert math.isclose(strip.get_width(), 0.3)
    assert math.isclose(strip.get_x() + strip.get_width(), 0.6, abs_tol=1e-12)
    assert strip.get_height() < 0.2


def test_packing_is_a_number_of_its_own(ax):
    breakdown([Ledger(0, 1, 1, 8, 4, 0.0, 0.2, 0.4, 0.1, 0.1, 0.1, 1.0, 0.0, pack=0.1)], ax=ax)
    assert "own 70 · pack 10 · transfer 10 · wait 10 %" in " ".join(text.get_text() for text in ax.texts)


def test_what_did_not_happen_is_not_in_the_legend(run_of, ax):
    breakdown(run_of(), ax=ax)
    assert not {"pack", "hidden"} & {text.get_text() for text in ax.get_legend().get_texts()}
