"""The studio's notebook as a page without code, through Voila and in a real browser, with two MPI engines."""

import pytest

from tests.notebooks.watched import marks, watched

pytestmark = marks("voila", "jupyterlab", limit=320)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What the browser saw."""
    return watched("in_voila.py", tmp_path_factory.mktemp("voila"), 300)


def test_all_panels_are_there_and_no_code(seen):
    assert seen["panels"] >= 4
    assert seen["code"] == 0


def test_a_click_trains_on_the_engines(seen):
    assert seen["state"] == "done"
    assert seen["line"].startswith("step 126 · ")
    assert seen["picture"] >= 960


def test_a_double_click_is_one_step_of_the_playground(seen):
    assert "AllReduce · batch 32: 8 a rank" in seen["playground"]


def test_no_errors_in_the_page_and_nothing_left(seen):
    assert seen["errors"] == []
    assert seen["while_served"] > 0, "what was started is seen"
    assert seen["left"] == []
