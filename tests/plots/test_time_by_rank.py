"""Where each rank's time went, step by step, and what it is like now."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure

import dtnn
from dtnn.plots import breakdown, columns, recent, time_by_rank
from dtnn.records import Ledger


@pytest.fixture
def ax():
    return Figure().add_subplot()


def ledger(rank, step, time=0.0, **parts):
    seconds = dict.fromkeys(("data", "forward", "backward", "wait", "transfer", "update"), 0.0) | parts
    return Ledger(rank, step, 10, 320, 0, **seconds, seconds=sum(seconds.values()), time=time)


def shares(ax, rank, phase):
    told = columns(ax)
    rows = zip(told["rank"], told["phase"], told["share"])
    return [share for whose, what, share in rows if (whose, what) == (rank, phase)]


def test_a_rank_that_becomes_slower_is_seen_to(ax):
    told = [ledger(0, 10 * n, forward=0.1, wait=0.0 if n < 3 else 0.3) for n in (1, 2, 3)]
    told += [ledger(1, 10 * n, forward=0.1 if n < 3 else 0.4) for n in (1, 2, 3)]
    assert time_by_rank(told, ax) is ax
    np.testing.assert_allclose(shares(ax, 0, "wait"), [0, 0, 0.75])
    np.testing.assert_allclose(shares(ax, 1, "forward"), [1, 1, 1])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["rank 0", "rank 1"]
    assert ax.get_xlim() == (0, 30)
    whole = np.sum([shares(ax, 0, phase) for phase in dict.fromkeys(columns(ax)["phase"])], axis=0)
    np.testing.assert_allclose(whole, 1)
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"forward", "wait"}


def test_what_no_clock_was_on_is_other(ax):
    told = [dataclasses.replace(ledger(0, 10, forward=0.3), seconds=0.4)]
    time_by_rank(told, ax)
    np.testing.assert_allclose(shares(ax, 0, "other"), [0.25])


def test_many_ledgers_become_few_windows(ax):
    time_by_rank([ledger(0, 10 * n, forward=0.1) for n in range(1, 1001)], ax)
    assert len(shares(ax, 0, "forward")) == 120


def test_before_the_first_ledger_it_says_so(ax):
    time_by_rank([], ax)
    assert any("after the first steps" in text.get_text() for text in ax.texts)


def test_now_is_the_last_seconds(ax):
    told = [ledger(0, 10 * n, time=100.0 + n, forward=1.0 if n < 8 else 0.0, wait=0.0 if n < 8 else 1.0) for n in range(10)]
    assert [record.step for record in recent(told)] == [70, 80, 90]
    assert [record.step for record in recent(told, 1)] == [80, 90]
    breakdown(recent(told, 1), ax, "seconds")
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(2.0)


def test_a_run(ax):
    with dtnn.Cluster(2, launcher="threads") as cluster:
        run = dtnn.zoo.mlp(hidden=(8,)).start(dtnn.data.mnist5k(), cluster=cluster, epochs=2)
        run.result(60)
    time_by_rank(run, ax)
    assert ax.get_xlabel() == "epoch"
    assert ax.get_xlim()[1] == pytest.approx(2.0)
    assert shares(ax, 1, "backward")[-1] > 0
