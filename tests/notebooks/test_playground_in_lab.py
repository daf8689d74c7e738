"""The playground by clicks alone, in JupyterLab and a real browser."""

import pytest

from tests.notebooks.watched import marks, watched

pytestmark = marks("jupyterlab", limit=320)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What the browser saw."""
    return watched("in_playground.py", tmp_path_factory.mktemp("playground"), 300)


def test_it_says_where_it_stands_before_the_first_step(seen):
    assert seen["begin"].startswith("step 0 · no step yet · loss 0.7")


def test_nothing_is_cut_off_on_a_page_of_1000_pixels(seen):
    assert seen["overflow"] == []


def test_it_runs_and_the_notebook_is_free(seen):
    assert seen["free"].strip() == "six times seven is 42"
    assert seen["runs"] == "■ stop", "with another network, and more ranks, it ran on"
    assert seen["pictures"] > 1.5
    assert "class 1 is where" in seen["trained"]


def test_what_can_not_be_is_said_in_place(seen):
    assert seen["wrong"] == "local steps and compression are different strategies; choose one of them"


def test_a_cell_that_is_run_again_takes_the_place_of_the_former(seen):
    assert seen["after"].strip() == "step 0 | 4 threads | 4 ranks"


def test_no_errors_in_the_page_and_nothing_left(seen):
    assert seen["errors"] == []
    assert seen["left"] == []
