"""A new user's way through the studio, by clicks alone, in JupyterLab and a real browser, with two MPI engines."""

import json
import os
import shutil
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
MISSING = [name for name in ("jupyterlab", "playwright", "nbformat") if util.find_spec(name) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; on Debian: apt-get install chromium"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.limit(320),
]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What the browser saw."""
    folder = tmp_path_factory.mktemp("studio")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, str(Path(__file__).parent / "in_studio.py"), str(folder), CHROMIUM]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        told, errors = process.communicate(timeout=300)
    finally:
        process.terminate()  # its handler ends JupyterLab and the browser
        process.wait(20)
    assert process.returncode == 0, f"{errors[-3000:]}\nscreenshots and logs are in {folder}"
    print(told, folder)
    return json.loads(told)


def test_a_network_is_built_by_clicks(seen):
    assert seen["layers"] == ["Conv2d(8, 5, padding=2)", "ReLU()", "MaxPool2d(2)", "Flatten()", "Linear(10)"]
    assert seen["total"].startswith("input 28 × 28 × 1 · 15,898 parameters")


def test_a_double_click_adds_two_and_undo_takes_one_back(seen):
    assert seen["layers"].count("ReLU()") == 1


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


def test_a_layer_that_a_cell_defined_trains_on_the_engines(seen):
    assert seen["own"] == "done"


def test_it_takes_a_new_user_less_than_three_minutes(seen):
    assert seen["seconds"]["trained"] < 180


def test_no_errors_in_the_page_nothing_cut_off_and_nothing_left(seen):
    assert seen["errors"] == []
    assert seen["cut_off"] == []
    assert seen["left"] == []
