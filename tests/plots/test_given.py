"""Every picture of a run takes the run, its history or its records, and tells what else it was given."""

import pytest
from matplotlib.figure import Figure

import dtnn
from dtnn import plots
from dtnn.cluster import Run

DRAW = {
    "curves": lambda given, ax: plots.curves(given, ax),
    "by_rank": lambda given, ax: plots.by_rank(given, ax),
    "val_loss by_rank": lambda given, ax: plots.by_rank(given, ax, "val_loss"),
    "gradient_curve": lambda given, ax: plots.gradient_curve(given, ax),
    "breakdown": lambda given, ax: plots.breakdown(given, ax),
    "overlay": lambda given, ax: plots.overlay({"a": given}, ax),
    "totals": lambda given, ax: plots.totals(given),
    "report": lambda given, ax: plots.report(given),
    "picture": lambda given, ax: plots.picture(given),
}


@pytest.fixture(scope="module")
def history():
    return dtnn.zoo.mlp(hidden=(4,)).fit(dtnn.data.mnist5k(), batch_size=1000, show=False)


@pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW)
def test_runs_histories_and_records_are_taken(draw, history):
    run = Run(1, "train", [])
    run.records = history.records
    for given in (history, run, history.records, list(history.records), tuple(history.records)):
        draw(given, Figure().add_subplot())


@pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW)
@pytest.mark.parametrize("given", [3, "run.json", None, {}, [1, 2]], ids=str)
def test_what_has_no_records_is_told(draw, given):
    with pytest.raises(TypeError) as caught:
        draw(given, Figure().add_subplot())
    assert "give a run, or its records, as run.records" in str(caught.value)
    assert str(caught.value).startswith(repr(given))


def test_overlay_takes_a_list_of_runs(history):
    ax = plots.overlay([history, history], Figure().add_subplot())
    assert ax.lines[0].get_label() == "run 1"
    with pytest.raises(TypeError, match="runs=3: give a list of runs, or a dict of them by name"):
        plots.overlay(3, ax)
