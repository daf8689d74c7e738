"""A new user's way through the studio, by clicks alone, in JupyterLab and a real browser, with two MPI engines."""

import pytest

from tests.notebooks.watched import marks, watched

pytestmark = marks("jupyterlab", limit=320)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What the browser saw."""
    return watched("in_studio.py", tmp_path_factory.mktemp("studio"), 300)


def test_a_network_is_built_by_clicks_and_a_residual_in_it(seen):
    inner = ["Conv2d(8, 3, padding=1)", "BatchNorm2d()", "Conv2d(8, 3, padding=1)", "BatchNorm2d()", "Dropout(0.1)"]
    assert seen["layers"] == [
        "Conv2d(8, 5, padding=2)",
        "ReLU()",
        "MaxPool2d(2)",
        "▾ Residual",
        *inner,
        "Flatten()",
        "Linear(10)",
    ]
    assert seen["total"].startswith("input 28 × 28 × 1 · 17,098 parameters")


def test_a_double_click_counts_once_and_quick_clicks_all_count(seen):
    assert seen["double"] == 5, "on add"
    assert seen["double_step"] == 1
    assert seen["quick_steps"] == 4


def test_the_misfit_is_told_at_its_layer(seen):
    assert seen["misfit"].startswith("layer 4 (linear_1, Linear(10)): Linear(10) takes samples of shape (D,)")


def test_the_notebook_is_free_while_it_trains(seen):
    assert seen["free"].strip() == "six times seven is 42 while the run is running"


def test_pause_step_rate_and_stop(seen):
    assert "learning rate 0.0100" in seen["line"]
    assert seen["result"].startswith("stopped 2 ranks | accuracy 0.9")
    assert seen["result"].strip().endswith("rate 0.01")
    assert seen["enabled"]


def test_a_step_is_led_through_phase_by_phase(seen):
    step = int(seen["phases"][0].split("of step ")[1].split(" ")[0].replace(",", ""))
    for name, words in zip(("forward", "backward", "reduce", "update"), seen["phases"], strict=True):
        assert f"{name} of step {step:,} in " in words
        assert words.count("|") == 1, "a number for each of two ranks"
    assert seen["weights"] == f"after {step - 1:,} steps of the run that goes on"


def test_the_phase_is_told_once(seen):
    assert seen["told"] == 1


def test_the_buttons_are_seen_first_and_then_the_live_view_below_them(seen):
    """At 1,000 pixels, where builder and settings fill the page."""
    assert seen["buttons"] == [True, True]
    assert seen["view"] == [True, True]


def test_the_curves_are_evened_out_while_the_run_pauses(seen):
    assert seen["smoothed"] == "20 %"


def test_a_layer_and_an_all_reduce_that_a_cell_defined_train_on_the_engines(seen):
    assert seen["own"] == "done", seen["said"]
    assert seen["own_strategy"].startswith("AllReduce(algorithm=<function summed at")


def test_it_takes_a_new_user_less_than_three_minutes(seen):
    assert seen["seconds"]["trained"] < 180


def test_no_errors_in_the_page_nothing_cut_off_and_nothing_left(seen):
    assert seen["errors"] == []
    assert seen["cut_off"] == []
    assert seen["left"] == []
