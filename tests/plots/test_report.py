"""A run as text."""

from dtnn.plots import report
from dtnn.records import Epoch, Ledger, Place, Recorder, Step


def test_report_has_a_line_a_rank_and_the_result():
    told = Recorder([Place(0, {"host": "desk"}), Place(1, {"host": "desk"}), Step(10, 1, 0.5, 64, 0.1, 0.1, 1.0)])
    told += [Ledger(rank, 10, 10, 320, 1000, 0.5, 1.0, 2.0, 0.25 + rank, 0.5, 0.25, 4.5 + rank, 1.0) for rank in (0, 1)]
    told.append(Epoch(1, 10, 640, 2.0, 0.1, {"loss": 0.4, "accuracy": 0.9, "val_loss": 0.5, "val_accuracy": 0.873}, 2.0))
    lines = [line.split() for line in report(told).splitlines() if line]
    assert lines[1] == ["0", "desk", "320", "3.75", "0.50", "0.25"]
    assert lines[2] == ["1", "desk", "320", "3.75", "0.50", "1.25"]
    assert lines[3] == ["test", "accuracy", "87.3", "%"]
    assert lines[4] == ["throughput", "320", "samples/s"]


def test_nothing_is_reported_of_nothing():
    assert report(Recorder()).split() == ["rank", "host", "samples", "compute", "s", "communication", "s", "waiting", "s"]
