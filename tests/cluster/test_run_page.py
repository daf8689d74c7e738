"""A run as a piece of HTML."""

import math
import re

import pytest

from dtnn.cluster import Run
from dtnn.cluster.failure import RunFailed
from dtnn.cluster.run_page import numbers
from dtnn.records import Epoch, Finish, Ledger, Note, Recorder, Resumed, Start, Step

SETTINGS = {"parameters": 7850, "data": "mnist5k", "samples": 4000, "epochs": 2, "batch_size": 64, "optimizer": "SGD(lr=<b>)"}


def ledger(rank, **times):
    rest = {"data": 0.1, "forward": 0.2, "backward": 0.2, "update": 0.1, "wait": 0.1, "transfer": 0.2, "pack": 0.1}
    return Ledger(rank=rank, step=9, steps=9, samples=640, bytes=4000, seconds=1.0, time=101.0, **{**rest, **times})


@pytest.fixture
def run():
    made = Run(2, "train", [])
    made.records = Recorder([Start(100.0, 2, SETTINGS), Step(9, 1, 2.0, 32, 0.1, 0.2, 101.0), ledger(0), ledger(1)])
    made.records += [Resumed(9, 0.5, 102.2), Epoch(1, 9, 640, 2.0, 0.1, {"loss": 0.5, "val_accuracy": 0.9125}, 102.0)]
    made.records += [Finish("done", 103.0)]
    made.state = "done"
    return made


def test_its_main_numbers(run):
    told = dict(numbers(run))
    assert told == {
        "state": "done",
        "model": "7,850 parameters",
        "data": "mnist5k: 4,000 samples",
        "batch size": "64",
        "optimizer": "SGD(lr=<b>)",
        "epochs": "1 of 2",
        "loss": "0.5",
        "validation accuracy": "0.9125",
        "time": "2.5 s",
        "communication": "30 % of the ranks' time, and 10 % waiting for the slowest",
    }


def test_the_page_has_a_table_and_a_small_picture(run):
    page = run._repr_html_()
    assert page.count("<tr>") == 10
    assert "SGD(lr=&lt;b&gt;)" in page
    assert re.search(r'src="data:image/png;base64,[\w+/=]+"', page)
    assert len(page) < 60_000
    assert "color:inherit" in page, "read on a dark page, too"


def test_a_run_that_has_not_trained_has_no_picture():
    fresh = Run(3, "count", [])
    fresh.records = Recorder([Note(0, 1.0, "a")])
    page = fresh._repr_html_()
    assert "count on 3 ranks" in page
    assert "waiting" in page
    assert "<img" not in page


def test_a_run_that_failed_says_why():
    failed = Run(1, "train", [])
    failed.state, failed.error = "failed", RunFailed("rank 0\nValueError: no <good>")
    assert "&lt;good&gt;" in failed._repr_html_() or "failed" in failed._repr_html_()
    failed.records = Recorder([Start(100.0, 1, SETTINGS), Step(1, 1, math.nan, 32, 0.1, 0.2, 101.0)])
    assert dict(numbers(failed))["loss"] == "nan"
