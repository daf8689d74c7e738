"""Sums in shared memory: right on any number of ranks and for any length, the same bits everywhere, and nothing is left."""

import gc
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

from dtnn.comm import MPI, RankFailed, shared_sum
from dtnn.comm.shared_sum import CHUNK, LEAST, SharedSum
from tests.comm.mpi_job import run_mpi

LENGTHS = [LEAST // 4, LEAST // 4 + 1, 100_003, CHUNK // 4 - 1, CHUNK // 4, CHUNK // 4 + 1, 3 * CHUNK // 4 + 5]


@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
@pytest.mark.parametrize("blocking", [False, True])
def test_sums_are_right_and_the_same_on_all_ranks(ranks, blocking):
    found = run_mpi(__file__, "sums", ranks, blocking, seconds=60)
    for values in found:
        assert values == found[0]
    assert all(right for right, _ in found[0])


def room(pool, blocking=False):
    """A communicator that does not mind sharing cores."""
    pair = pool.world.Dup(), pool.world.Dup()
    return MPI(*pair, blocking=blocking, crowded=False)


def sums(pool, blocking):
    comm, found = room(pool, blocking), []
    for dtype in (np.float32, np.float64):
        for length in LENGTHS:
            parts = [np.random.default_rng((rank, length)).standard_normal(length).astype(dtype) for rank in range(comm.size)]
            array = parts[comm.rank].copy()
            assert comm.Allreduce(array) is array
            wanted = parts[0] + parts[1]
            for part in parts[2:]:
                wanted = wanted + part
            found.append((bool((array == wanted).all()), zlib.crc32(array.tobytes())))
    assert comm._shared.works
    assert comm.clean
    return found


def test_arrays_of_any_layout():  # case 20
    assert all(run_mpi(__file__, "layouts", 2))


def layouts(pool):
    comm, base = room(pool), np.arange(30_000.0).reshape(150, 200)
    for make in (lambda a: a.T, np.asfortranarray, lambda a: a[::2, 1:], lambda a: a[:, ::-1]):
        array = make(base.copy())
        comm.Allreduce(array)
        np.testing.assert_array_equal(array, 2 * make(base))
    return comm._shared is not None


@pytest.mark.parametrize("failing", [0, 1])
def test_where_a_rank_sees_no_shared_memory_all_send_messages(failing):
    assert run_mpi(__file__, "without", 2, failing) == [False, False]


def without(pool, failing):
    comm = room(pool)
    if comm.rank == failing:
        shared_sum._opened = lambda *_: None
        SharedSum._made = lambda *_: None
    array = np.full(100_000, comm.rank + 1.0)
    comm.Allreduce(array)
    assert (array == 3).all()
    return comm._shared.works


@pytest.mark.parametrize("crowded", [0, 1])
def test_one_crowded_rank_is_enough_for_messages(crowded):
    assert run_mpi(__file__, "crowded_somewhere", 2, crowded) == [False, False]


def crowded_somewhere(pool, crowded):
    """As on two hosts, of which one has more ranks than cores."""
    pair = pool.world.Dup(), pool.world.Dup()
    comm, array = MPI(*pair, crowded=pool.world.rank == crowded), np.ones(100_000)
    comm.Allreduce(array)
    assert (array == 2).all()
    return comm._shared.works


def test_a_rank_that_fails_frees_the_others():
    found = run_mpi(__file__, "fails_midway", 2)
    assert found[0] == (1, "ValueError: negative width")


def fails_midway(pool):
    comm = room(pool)
    comm.Allreduce(np.ones(100_000))
    if comm.rank == 1:
        time.sleep(0.05)
        comm.fail("ValueError: negative width")
        return None
    try:
        comm.Allreduce(np.ones(100_000))
    except RankFailed as error:
        return error.rank, error.reason


def test_nothing_is_left_open():
    assert run_mpi(__file__, "open_files", 2) == [0, 0]


def open_files(pool):
    comm = room(pool)
    for _ in range(3):
        comm.Allreduce(np.ones(100_000))
    assert "memfd:dtnn" in Path("/proc/self/maps").read_text()
    del comm
    gc.collect()
    return Path("/proc/self/maps").read_text().count("memfd:dtnn")
