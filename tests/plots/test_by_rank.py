"""A line for each rank."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import dtnn
from dtnn.plots import by_rank
from dtnn.records import Epoch, Ledger, Step


@pytest.fixture
def ax():
    return Figure().add_subplot()


def ledger(rank, step, loss=1.0, **parts):
    seconds = dict.fromkeys(("data", "forward", "backward", "wait", "transfer", "update"), 0.0) | parts
    return Ledger(rank, step, 10, 320, 0, **seconds, seconds=sum(seconds.values()), time=0.0, loss=loss)


@pytest.mark.parametrize(("what", "value"), [("loss", 1.5), ("work", 40.0), ("wait", 10.0), ("samples/s", 800.0)], ids=str)
def test_each_rank_has_its_numbers(ax, what, value):
    told = [ledger(1, 10, 1.5, forward=0.3, update=0.1, wait=0.1, transfer=0.2), ledger(0, 10, 9.0, forward=0.1, wait=0.5)]
    assert by_rank(told, ax, what) is ax
    assert [line.get_label() for line in ax.lines] == ["rank 0", "rank 1"]
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [value])
    assert ax.lines[1].get_xdata().tolist() == [10]


def test_many_points_become_few_means(ax):
    told = [ledger(0, 10 * n, float(n)) for n in range(1, 1001)]
    x, y = by_rank(told, ax).lines[0].get_data()
    assert len(x) == 200
    assert np.mean(y) == pytest.approx(500.5)
    assert x[-1] == 10_000


def test_servers_and_older_runs_have_no_line(ax):
    server = Ledger(0, 10, 10, 0, 0, 0, 0, 0, 1.0, 0, 0, 1.0, 0.0)
    by_rank([server, ledger(1, 10, loss=float("nan"))], ax)
    assert not ax.lines
    assert ax.texts[0].get_text() == "no rank has told its loss yet"


def test_many_ranks_are_told_apart(ax):
    by_rank([ledger(rank, 10) for rank in range(40)], ax)
    assert len(ax.lines) == 16
    assert ax.get_legend().get_title().get_text() == "16 of 40 ranks"
    with pytest.raises(ValueError, match="what='time' is not known; choose 'loss', 'work', 'wait', 'samples/s'"):
        by_rank([], ax, "time")


def test_the_ranks_losses_together_are_the_runs(ax):
    data = dtnn.data.mnist5k()
    with dtnn.Cluster(3, "threads") as cluster:
        run = dtnn.zoo.mlp(hidden=(8,)).start(data, cluster=cluster, epochs=2, batch_size=100)
        run.result(60)
    ledgers = run.records.of(Ledger)
    means = [each.loss * each.samples for each in ledgers]
    assert sum(means) / sum(each.samples for each in ledgers) == pytest.approx(
        np.mean(run.records.column(Step, "loss")), rel=1e-5
    )
    assert sum(means) / 8000 == pytest.approx(np.mean([e.metrics["loss"] for e in run.records.of(Epoch)]), rel=1e-5)
    by_rank(run.records, ax)
    assert [line.get_label() for line in ax.lines] == ["rank 0", "rank 1", "rank 2"]
    assert ax.get_xlabel() == "epoch"
    assert ax.lines[0].get_xdata()[-1] == 2.0
