"""The cluster's panel by clicks alone, in JupyterLab and a real browser, with two MPI engines, one of which is killed."""

import pytest

from tests.comm.mpi_job import why_no_mpi
from tests.notebooks.watched import marks, watched

pytestmark = [*marks("jupyterlab", limit=320), pytest.mark.skipif(bool(why_no_mpi()), reason=why_no_mpi())]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What the browser saw."""
    return watched("in_cluster_panel.py", tmp_path_factory.mktemp("cluster_panel"), 300)


def test_it_starts_two_engines_while_the_notebook_is_free(seen):
    assert "no cluster yet" in seen["begin"]
    assert seen["free"].strip() == "six times seven is 42"
    assert seen["sum"].strip() == "3 on 2"


def test_nothing_is_cut_off_on_a_page_of_1000_pixels(seen):
    assert seen["overflow"] == []


def test_a_dead_rank_is_seen_soon_and_what_to_do_is_said(seen):
    assert seen["seconds"] < 10
    told = "rank 1 died; start makes new ranks", "ranks 0, 1 died; start makes new ranks"
    assert seen["advice"] in told, "the launcher may end the other one, too"


def test_it_stops_and_a_saved_notebook_says_so(seen):
    assert seen["kept"].startswith("<Cluster of 2 ranks (mpi), stopped>")


def test_no_errors_in_the_page_and_nothing_left(seen):
    assert seen["errors"] == []
    assert seen["left"] == []
