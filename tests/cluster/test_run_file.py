"""A run's file is data, never a program: what isn't a run is refused with words, and nothing in it is executed."""

import json
import os
import pickle
import threading

import pytest

from dtnn.cluster import Run, run_file
from dtnn.cluster.bounded import Dropped
from dtnn.records import Finish, Ledger, Note, Recorder, Step

STEP = Step(1, 1, float("nan"), 4, 0.1, 0.01, 1.0)


@pytest.fixture
def run():
    made = Run(2, "train", [{"rank": 0, "host": "here"}, {"rank": 1, "host": "here"}])
    made.records = Recorder([Note(1, 1.0, "compiling"), STEP, Finish("done", 2.0)])
    made.state = "done"
    return made


def altered(run, tmp_path, **changes):
    values = {**run_file.describe(run), **changes}
    path = tmp_path / "altered.json"
    path.write_text(json.dumps(values))
    return path


def test_there_and_back(run, tmp_path):
    run.save(tmp_path / "run.json")
    again = Run.load(tmp_path / "run.json")
    assert again.records[0] == run.records[0]
    assert again.records[1].loss != again.records[1].loss  # NaN
    assert again.records[2] == run.records[2]
    assert (again.name, again.size, again.rows, again.state) == ("train", 2, run.rows, "done")


def test_a_users_own_records_are_left_out(run, tmp_path):
    run.records.append({"mine": threading.Lock()})
    run.records.append(Dropped("Picture", 10**6))
    run.save(tmp_path / "run.json")
    assert len(Run.load(tmp_path / "run.json").records) == 3


def test_a_folder_that_is_not_there_is_told(run, tmp_path):
    with pytest.raises(FileNotFoundError):
        run.save(tmp_path / "nowhere" / "run.json")


def test_what_cannot_be_written_leaves_the_old_file(run, tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    run.save(path)
    before = path.read_text()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        run.save(path)
    assert path.read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


class Evil:
    def __reduce__(self):
        return exec, ("raise SystemError('executed')",)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, pickle.dumps(Evil()), b"null", b"[]", b'{"format": "another"}']
)
def test_what_is_no_run_is_refused(content, tmp_path):
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"odd\.json is no run of dtnn"):
        Run.load(path)


def test_a_newer_format_is_refused(run, tmp_path):
    with pytest.raises(ValueError, match="version 99 of the format, this dtnn reads 1; update dtnn"):
        Run.load(altered(run, tmp_path, version=99))


@pytest.mark.parametrize(
    "changes",
    [
        {"ranks": "2"},
        {"ranks": True},
        {"ranks": -1},
        {"ranks": 10**12},
        {"state": "<script>"},
        {"rows": ["x"]},
        {"records": {"0": 1}},
        {"name": None},
    ],
    ids=str,
)
def test_what_is_damaged_is_named(run, tmp_path, changes):
    with pytest.raises(ValueError, match=r"altered\.json is damaged: " + next(iter(changes)).replace("rows", "(rows|a row)")):
        Run.load(altered(run, tmp_path, **changes))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"type": "explode"}, "a record of type 'explode' is not known"),
        ({"type": "note", "rank": 0, "time": 1.0}, "text"),
        ({"type": "note", "rank": 0, "time": 1.0, "text": "x", "more": 1}, "no field 'more'"),
        ({"type": "note", "rank": "0", "time": 1.0, "text": "x"}, "its rank is '0', not a int"),
        ({"type": "note", "rank": 0, "time": 1.0, "text": ["x"]}, "its text is"),
        ("text", "damaged at record 1"),
        (None, "damaged at record 1"),
    ],
)
def test_a_record_that_is_none_is_named(run, tmp_path, record, words):
    good = run_file.describe(run)["records"]
    with pytest.raises(ValueError, match=f"damaged at record 1(?s:.*){words}" if words[:7] != "damaged" else words):
        Run.load(altered(run, tmp_path, records=[good[0], record]))


def test_ledgers_of_whole_numbers_are_numbers(run, tmp_path):
    run.records = Recorder([Ledger(0, 1, 1, 4, 100, 0, 1, 1, 0, 0, 0, 2, 1)])
    run.save(tmp_path / "run.json")
    assert Run.load(tmp_path / "run.json").records == run.records


def test_of_large_records_only_the_last_are_kept(monkeypatch):
    monkeypatch.setattr("dtnn.cluster.bounded.KEPT", 100_000)
    run = Run(1)
    for number in range(10):
        run._tell([number, f"large {number}"], [10, 30_000])
    kept = [record for record in run.records if isinstance(record, str)]
    assert kept == ["large 7", "large 8", "large 9"]
    assert [record for record in run.records if isinstance(record, int)] == list(range(10))
    assert run.records[1] == Dropped("str", 30_000)
    assert len(run.records) == 20
