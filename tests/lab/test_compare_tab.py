"""The tab that compares runs, without a browser."""

import pytest

import dtnn
from dtnn.cluster import Run
from dtnn.lab.compare_tab import MOST, CompareTab
from tests.comparison.test_comparison import told

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # ipywidgets' own


def run_with(records):
    run = Run(2, "train", [])
    run.records = records
    return run


@pytest.fixture
def tab():
    return CompareTab()


def test_without_runs_it_says_what_to_do(tab):
    tab.look()
    assert tab.answer.message.text.startswith("no run is chosen: train, or load a saved run")
    assert tab.answer.picture.layout.display == "none"


def test_runs_are_kept_chosen_and_drawn(tab):
    tab.keep(run_with(told()))
    tab.keep(run_with(told(batch_size=64)))
    assert tab.chosen.value == ("run 1", "run 2")
    assert tab.answer.picture.value == b"", "nothing is drawn before somebody looks"
    tab.look()
    assert tab.answer.message.text == ""
    assert bytes(tab.answer.picture.value).startswith(b"\x89PNG")
    assert "batch_size: 32 → 64" in tab.answer.page.value
    tab.chosen.value = ("run 2",)
    assert "<td>run 1</td>" not in tab.answer.page.value
    assert "→" not in tab.answer.page.value


def test_the_axis_and_the_metric_are_chosen(tab):
    history = dtnn.zoo.mlp(hidden=(8,)).fit(dtnn.data.mnist5k(), epochs=1, batch_size=400, show=False)
    tab.keep(history)
    tab.look()
    assert list(tab.metric.options) == ["accuracy"]
    before = bytes(tab.answer.picture.value)
    tab.against.value = "seconds"
    assert tab.answer.picture.value != before
    assert tab.answer.message.text == ""


def test_a_run_that_is_there_twice_is_told(tab, tmp_path):
    tab.keep(run_with(told()))
    tab.path.value = str(tmp_path / "kept.json")
    tab.save()
    tab.load()
    assert "kept is run 1 once more" in tab.answer.page.value
    assert tab.answer.message.text == ""


def test_a_saved_run_is_loaded(tab, tmp_path):
    run_with(told(0.125)).save(tmp_path / "kept.json")
    tab.load()
    assert "path of a run" in tab.answer.message.text
    tab.path.value = str(tmp_path / "nowhere.json")
    tab.load()
    assert "nowhere.json" in tab.answer.message.text
    tab.path.value = str(tmp_path / "kept.json")
    tab.load()
    tab.load()
    assert list(tab.runs) == ["kept", "kept'"]
    assert tab.answer.message.text == ""
    assert "0.125" in tab.answer.page.value


def test_the_newest_chosen_run_is_saved_and_loaded_again(tab, tmp_path):
    tab.save()
    assert tab.answer.message.text.startswith("choose a run in the list, and write a path")
    for loss in (0.5, 0.25):
        tab.keep(run_with(told(loss)))
    tab.path.value = str(tmp_path / "last.json")
    tab.save()
    assert tab.answer.message.text == f"run 2 is in {tmp_path / 'last.json'}"
    tab.load()
    assert list(tab.runs) == ["run 1", "run 2", "last"]
    assert "0.25" in tab.answer.page.value
    tab.path.value = str(tmp_path / "no" / "folder.json")
    tab.save()
    assert "folder" in tab.answer.message.text


def test_it_keeps_a_few_runs_only(tab):
    for _ in range(MOST + 3):
        tab.keep(run_with(told()))
    assert list(tab.runs) == [f"run {number}" for number in range(4, MOST + 4)]
    assert len(tab.chosen.value) == MOST
