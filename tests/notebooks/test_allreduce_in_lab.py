"""The lab of all-reduces by clicks alone, in JupyterLab and a real browser."""

import pytest

from tests.notebooks.watched import marks, watched

pytestmark = marks("jupyterlab", limit=320)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What the browser saw."""
    return watched("in_allreduce.py", tmp_path_factory.mktemp("allreduce"), 300)


def test_nothing_is_cut_off_on_a_page_of_1000_pixels(seen):
    assert seen["overflow"] == []


def test_its_rounds_are_played_while_the_notebook_is_free(seen):
    assert seen["free"].strip() == "six times seven is 42"
    assert seen["playing"] == "■ stop"
    assert seen["played"].strip() == "ring on 4 ranks, 8 numbers: after 6 rounds"


def test_clock_and_bits_and_the_broken_one_in_its_row(seen):
    assert "the formula says 30.0 ms, the clock" in seen["clock"]
    rows = [line for line in seen["bits"].splitlines() if "broken" in line]
    assert len(rows) == 1, "in its row alone"
    assert "this one is broken" in rows[0]


def test_a_measurement_is_ended_by_a_click(seen):
    assert seen["ended"] == ""


def test_an_error_is_said_in_place(seen):
    assert "this one is broken" in seen["wrong"]


def test_a_saved_notebook_has_the_last_picture(seen):
    assert seen["kept"].startswith("torus (1 × 4) on 4 ranks, 8 numbers: round 1 of 6")


def test_no_errors_in_the_page_and_nothing_left(seen):
    assert seen["errors"] == []
    assert seen["left"] == []
