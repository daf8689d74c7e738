"""From a click in JupyterLab, in a real browser, to pictures that follow a run on two engines, and to nothing left behind."""

import pytest

from tests.notebooks.watched import marks, watched

pytestmark = marks("jupyterlab", limit=200, slow=False)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What the browser saw."""
    return watched("in_lab.py", tmp_path_factory.mktemp("lab"), 180)


@pytest.fixture(scope="module")
def training(seen):
    """The pictures of the training itself, the end not among them."""
    return [picture for picture in seen["pictures"] if picture["step"] and picture["words"].startswith("training")]


def test_at_least_ten_pictures_before_the_run_ends(training):
    assert len({picture["drawn"] for picture in training}) >= 10
    steps = [picture["step"] for picture in training]
    assert steps == sorted(set(steps)), "each picture shows more than the one before"


def test_each_picture_is_fresh_when_it_appears(training):
    ages = sorted(picture["seen"] - picture["newest"] for picture in training)
    assert ages[int(0.9 * len(ages))] <= 1.0, ages  # a busy machine may hold up one or two
    assert sum(age <= 1.0 for age in ages) >= 10


def test_what_is_waited_for_is_said_before_the_first_point(seen):
    first = seen["pictures"][0]
    begun = first["words"].startswith("training: ")  # where kernels are on disk the wait may be over before the browser looks
    assert begun or first["words"].startswith("waiting: "), first["words"]


def test_nothing_jumps(seen):
    assert len({(picture["width"], picture["height"]) for picture in seen["pictures"]}) == 1


def test_the_notebook_is_free_meanwhile(seen):
    """Case 87: another cell runs while training runs, and only its own output is in it."""
    assert seen["free"].strip() == "six times seven is 42 while the run is running"


def test_the_result_can_be_read(seen):
    assert seen["result"].startswith("end: stopped | accuracy 0.9")


def test_no_errors_in_the_page(seen):
    assert seen["errors"] == []


def test_the_kernels_end_is_the_end_of_everything(seen):
    assert seen["before_shutdown"] >= 4, "a kernel, a controller and two engines at least"
    assert seen["left"] == []
