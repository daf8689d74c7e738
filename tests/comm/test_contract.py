"""One body of checks over all communicators: alone, threads, and MPI with polled and with blocking calls."""

import functools
import traceback

import pytest

from dtnn.comm import Serial, run_threads
from tests.comm.contract import CHECKS
from tests.comm.mpi_job import run_mpi

checks = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


@checks
def test_alone(check):
    check(Serial())


@checks
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_threads(check, size):
    run_threads(check, size)


@checks
@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("blocking", [False, True], ids=["polled", "blocking"])
def test_mpi(check, size, blocking):
    for rank, found in enumerate(results(size)):
        assert found[blocking, check.__name__] == "right", f"rank {rank}"


@functools.cache
def results(size):
    return run_mpi(__file__, "run_all", size)


def run_all(pool):
    """All checks in one start of MPI, each on a communicator of its own so that one failure spoils one check."""
    return {(blocking, check.__name__): outcome(check, pool, blocking) for blocking in (False, True) for check in CHECKS}


def outcome(check, pool, blocking):
    comm = pool.checkout(blocking=blocking)
    try:
        check(comm)
        return "right"
    except Exception:
        return traceback.format_exc()
