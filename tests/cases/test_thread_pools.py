"""Case 82: ranks share out the cores; the user's own settings win."""

import os

import pytest

import dtnn
from tests.cluster.conftest import needs_mpi

pytestmark = [pytest.mark.undisturbed, pytest.mark.slow]  # starts four engines

VARIABLES = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"


@pytest.fixture
def two_cores(monkeypatch):
    """At most two cores for this process and what it starts."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("the system shares out no cores")
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:2])
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    yield
    os.sched_setaffinity(0, before)


def pools(comm):
    """(threads of each BLAS pool, Numba's, what kernels use) within a job."""
    import numba
    from threadpoolctl import threadpool_info

    from dtnn.machine import threads_here

    blas = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return blas, numba.get_num_threads(), threads_here()


@needs_mpi
def test_four_ranks_on_two_cores_have_one_thread_each(two_cores):
    with dtnn.Cluster(4, on_wait=False) as cluster:
        run = cluster.run(pools)
        run.result(40)
        for blas, numba, used in run.results:
            assert blas
            assert set(blas) == {1}
            assert (numba, used) == (1, 1)
        assert {row["threads"] for row in cluster.describe()} == {1}


@needs_mpi
def test_the_users_setting_is_respected(two_cores, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with dtnn.Cluster(4, on_wait=False) as cluster:
        run = cluster.run(pools)
        run.result(40)
        for blas, _, used in run.results:
            assert set(blas) == {2}
            assert used == 2
