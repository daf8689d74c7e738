"""Sums in shared memory: right on any number of ranks and for any length, the same bits everywhere, and nothing is left."""

import gc
import os
import threading
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

from dtnn.comm import MPI, Mismatch, RankFailed, rendezvous, shared_memory
from dtnn.comm.shared_sum import CHUNK, LEAST
from tests.comm.mpi_job import run_mpi

LENGTHS = [LEAST // 4, LEAST // 4 + 1, 100_003, CHUNK // 4 - 1, CHUNK // 4, CHUNK // 4 + 1, 3 * CHUNK // 4 + 5]


@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
@pytest.mark.parametrize("blocking", [False, True])
def test_sums_are_right_and_the_same_on_all_ranks(ranks, blocking):
    found = run_mpi(__file__, "sums", ranks, blocking)
    for values in found:
        assert values == found[0]
    assert all(right for right, _ in found[0])


def quiet(pool, blocking=False):
    """A communicator that does not mind sharing cores."""
    pair = pool.world.Dup(), pool.world.Dup()
    return MPI(*pair, blocking=blocking, crowded=False)


def sums(pool, blocking):
    comm, found = quiet(pool, blocking), []
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


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
@pytest.mark.skipif(not rendezvous.POSSIBLE, reason="another processor than x86: there sums are made on the board alone")
def test_in_the_room_sums_are_the_same_as_outside(ranks, blocking):
    found = run_mpi(__file__, "in_the_room", ranks, blocking)
    assert all(all(same) for same, _ in found)
    assert all(values == found[0][1] for _, values in found)


def in_the_room(pool, blocking):
    """Whole rows, parts of them, other types; in between something that is not in the room."""
    comm, same, sums = quiet(pool, blocking), [], []
    memory = comm.shared(4 * 300_000)
    assert (memory == 0).all()
    for dtype in (np.float32, np.float64):
        everything = memory.view(dtype)
        for begin, length in ((0, 100_000), (16, 8_192), (3, 100_003), (0, 100_000)):
            mine = np.random.default_rng((comm.rank, length)).standard_normal(length).astype(dtype)
            array, outside = everything[begin : begin + length], mine.copy()
            array[:] = mine
            comm.Allreduce(array)
            comm.Allreduce(outside)
            same.append(bool((array == outside).all()))
            sums.append(zlib.crc32(array.tobytes()))
    return same, sums


def test_some_ranks_in_the_room_others_not():
    assert run_mpi(__file__, "mixed", 3) == [True] * 3


def mixed(pool):
    """What a rank passes is its own affair: part of the room, at another place than others, or any array."""
    comm = quiet(pool)
    memory = comm.shared(4 * 60_000).view(np.float32)
    right = []
    for array in (memory[:20_000], np.empty(20_000, np.float32), memory[comm.rank * 16 :][:20_000], memory[:40_000:2]):
        chosen = array if comm.rank != 1 else np.empty(20_000, np.float32)
        chosen[...] = comm.rank + 1
        comm.Allreduce(chosen)
        right.append((chosen == 6).all())
        array[...] = comm.rank
        comm.Allreduce(array)
        right.append((array == 3).all())
    older = memory[:20_000]
    assert comm.shared(1000).nbytes == 1000
    older[:] = 1
    comm.Allreduce(older)
    return bool(all(right) and (older == 3).all() and comm.clean)


@pytest.mark.parametrize("other", ["size", "operation", "barrier", "one number"])
def test_ranks_that_ask_for_different_things_are_told(other):  # case 27
    found = run_mpi(__file__, "differ", 3, other)
    assert all("ranks ask for different things at once" in text and "rank 1: " in text for text in found)


def differ(pool, other):
    comm = quiet(pool)
    comm.Allreduce(np.ones(100_000))  # from now on all is compared where the ranks meet
    calls = {
        "size": lambda: comm.Allreduce(np.ones(100_001)),
        "operation": lambda: comm.Allreduce(np.ones(100_000), "max"),
        "barrier": comm.Barrier,
        "one number": lambda: comm.Allreduce(1.0),
    }
    with pytest.raises(Mismatch) as error:
        calls[other]() if comm.rank == 1 else comm.Allreduce(np.ones(100_000))
    assert not comm.clean
    return str(error.value)


@pytest.mark.parametrize("blocking", [False, True])
def test_ranks_that_add_up_different_arrays_are_told(blocking):
    """With `blocking` nothing else is compared, but here they see it."""
    for text in run_mpi(__file__, "differ_in_length", 2, blocking):
        assert "rank 0: Allreduce sum of float64 (100000,); rank 1: Allreduce sum of float64 (100001,)" in text


def differ_in_length(pool, blocking):
    comm = quiet(pool, blocking)
    comm.Allreduce(np.ones(100_000))
    with pytest.raises(Mismatch) as error:
        comm.Allreduce(np.ones(100_000 + comm.rank))
    return str(error.value)


def test_the_first_long_sum_meets_something_else():
    for text in run_mpi(__file__, "differ_at_first", 2):
        assert "rank 0: Allreduce sum of float64 (5,); rank 1: Allreduce sum of float64 (100000,)" in text


def differ_at_first(pool):
    with pytest.raises(Mismatch) as error:
        quiet(pool).Allreduce(np.ones(100_000 if pool.world.rank else 5))
    return str(error.value)


def test_a_training_keeps_its_gradients_in_the_room():
    assert run_mpi(__file__, "trains", 2) == [True, True]


def trains(pool):
    import dtnn
    from dtnn.parallel import AllReduce

    comm, model = quiet(pool), dtnn.zoo.mlp()
    before = model.parameters
    exchange = AllReduce().begin(comm, before, dtnn.optim.SGD(0.1))
    weight = model.net.layers[1].weight.grad
    assert np.shares_memory(weight, before.grad)
    weight[...] = comm.rank + 1
    calls = []
    comm._shared._add_up_piece = calls.append  # what would be copied
    exchange.combine(2, 1, 2, None)
    return bool((model.net.layers[1].weight.grad == 3).all() and not calls)


def test_sums_in_a_written_order_need_no_room():
    assert run_mpi(__file__, "trains_in_order", 2) == [True, True]


def trains_in_order(pool):
    import dtnn
    from dtnn.comm import Ordered
    from dtnn.parallel import AllReduce

    comm, model = quiet(pool), dtnn.zoo.mlp()
    own = model.parameters.grad
    AllReduce().begin(Ordered(comm), model.parameters, dtnn.optim.SGD(0.1))
    return model.parameters.grad is own and comm._shared is None


def test_arrays_of_any_layout():  # case 20
    assert all(run_mpi(__file__, "layouts", 2))


def layouts(pool):
    comm, base = quiet(pool), np.arange(30_000.0).reshape(150, 200)
    for make in (lambda a: a.T, np.asfortranarray, lambda a: a[::2, 1:], lambda a: a[:, ::-1]):
        array = make(base.copy())
        comm.Allreduce(array)
        np.testing.assert_array_equal(array, 2 * make(base))
    return comm._shared is not None


@pytest.mark.parametrize("failing", [0, 1])
def test_where_a_rank_sees_no_shared_memory_all_send_messages(failing):
    assert run_mpi(__file__, "without", 2, failing) == [False, False]


def without(pool, failing):
    comm = quiet(pool)
    if comm.rank == failing:
        shared_memory._opened = shared_memory._made = lambda *_: None
    array = np.full(100_000, comm.rank + 1.0)
    comm.Allreduce(array)
    assert (array == 3).all()
    assert comm.shared(100) is None
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
    comm = quiet(pool)
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
    comm = quiet(pool)
    for _ in range(3):
        comm.Allreduce(np.ones(100_000))
    assert "memfd:dtnn" in Path("/proc/self/maps").read_text()
    del comm
    gc.collect()
    return Path("/proc/self/maps").read_text().count("memfd:dtnn")


@pytest.mark.parametrize("clean", [True, False])
def test_runs_leave_no_memory_behind(clean):
    """...while what holds it is still there: a communicator that was spoilt is kept for the life of the process."""
    assert run_mpi(__file__, "many_runs", 2, clean) == [[2] * 5] * 2


def many_runs(pool, clean):
    found, pool.crowded = [], False
    gc.disable()
    for _ in range(5):
        comm = pool.checkout()
        array = comm.shared(400_000)[: 4 * 100_000].view(np.float32)
        comm.Allreduce(array)
        if not clean and comm.rank == 1:
            comm.fail("on purpose")
        elif not clean:
            with pytest.raises(RankFailed):
                comm.Allreduce(array)
        del comm, array
        found.append(Path("/proc/self/maps").read_text().count("memfd:dtnn"))
    return found


def test_an_interrupt_while_memory_is_shared_leaves_no_file_open():
    before, after = run_mpi(__file__, "interrupted_while_sharing", 2)[0]
    assert after == before


def interrupted_while_sharing(pool):
    comm, before = quiet(pool), len(os.listdir("/proc/self/fd"))
    if comm.rank == 0:
        comm.Bcast = lambda array: comm.interrupt() or comm.look()
        with pytest.raises(KeyboardInterrupt):
            shared_memory.shared_rows(comm, 1000)
    gc.collect()
    return before, len(os.listdir("/proc/self/fd"))


def test_other_files_are_not_opened(tmp_path):
    """On another host the same number may be anybody's file."""
    with open(tmp_path / "theirs", "w+b") as file:
        file.write(b"x" * 1000)
        file.flush()
        watched = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "open", lambda *args: watched.append(args))
            assert shared_memory._opened(os.getpid(), file.fileno(), 1000) is None
        assert not watched


def test_two_waits_for_a_sum_are_told_apart():
    """Ranks that add up, and do nothing else, are in no deadlock."""
    waits, marks = run_mpi(__file__, "watched", 2)[0]
    assert waits > 20
    assert marks > 0.8 * waits


def watched(pool):
    """How often a rank was seen waiting in its sums, and for how many different waits it was taken."""
    from dtnn.cluster import rank
    from dtnn.cluster.whereabouts import whereabouts

    comm, array, marks, over = quiet(pool), np.ones(10_000), [], threading.Event()
    comm.Allreduce(array)

    def look():
        while not over.wait(0.01):
            where = whereabouts(threading.main_thread().ident)
            marks.extend([where["mark"]] * bool(where["verb"]))

    def job(comm):
        until = time.perf_counter() + 2
        while array[0]:  # the same on all ranks
            array[:] = time.perf_counter() < until
            comm.Allreduce(array)

    threading.Thread(target=look).start()
    rank.do(job, comm, (), {}, None, rank.Commands())
    over.set()
    return len(marks), len(set(marks))
