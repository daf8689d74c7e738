"""A line for each rank."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure

import dtnn
from dtnn.plots import by_rank
from dtnn.records import Epoch, Ledger, Share, Start, Step


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
    with pytest.raises(ValueError, match="what='time' is not known; choose 'loss', 'work', 'wait', 'samples/s', 'memory'"):
        by_rank([], ax, "time")
    with pytest.raises(ValueError, match=r"what='f1' is not known; choose .*'memory', 'accuracy'$"):
        by_rank([share(0, 1, loss=1.0, accuracy=0.5)], ax, "f1")


def share(rank, epoch, **metrics):
    return Share(rank, epoch, 10 * epoch, 320, metrics, 0.0)


def test_memory_of_servers_too(ax):
    server = Ledger(0, 10, 10, 0, 0, 0, 0, 0, 1.0, 0, 0, 1.0, 0.0, memory=10**8)
    by_rank([server, ledger(1, 10, memory=0), dataclasses.replace(ledger(2, 10), memory=2 * 10**8)], ax, "memory")
    assert [(line.get_label(), *line.get_ydata()) for line in ax.lines] == [("rank 0", 100.0), ("rank 2", 200.0)]
    assert ax.get_ylabel() == "MB"


def test_a_metric_of_each_ranks_own_samples_and_of_all(ax):
    told = [Start(0.0, 2, {}), share(0, 1, val_accuracy=0.5), share(1, 1, val_accuracy=0.75)]
    told += [Epoch(1, 10, 640, 1.0, 0.1, {"val_accuracy": 0.625}, 0.0), share(1, 2, val_accuracy=float("nan"))]
    by_rank(told, ax, "val_accuracy")
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert list(lines) == ["rank 0", "rank 1", "all ranks"]
    np.testing.assert_array_equal(lines["rank 1"], [0.75, np.nan])
    assert ax.get_title("left") == "Validation accuracy of each rank's own samples"
    assert ax.yaxis.get_major_formatter()(0.5) == "50%"


def test_before_the_first_epoch_its_metrics_are_awaited(ax):
    by_rank([Start(0.0, 2, {})], ax, "val_loss")
    assert ax.texts[0].get_text() == "no rank has told its val_loss yet"


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
    of_epochs = by_rank(run.records, Figure().add_subplot(), "val_accuracy")
    assert [line.get_label() for line in of_epochs.lines] == ["rank 0", "rank 1", "rank 2", "all ranks"]
    ranks = np.array([line.get_ydata() for line in of_epochs.lines])
    assert np.all(ranks[:3].min(0) <= ranks[3])
    memory = by_rank(run.records, Figure().add_subplot(), "memory")
    assert memory.get_title("left") == "Memory of the one process in which all ranks are threads"
    assert memory.get_ylim()[0] == 0 < memory.lines[2].get_ydata().max() < memory.get_ylim()[1]
    assert np.all(ranks[3] <= ranks[:3].max(0))
