"""What only ranks as processes can go through: failures, interrupts, and runs after them."""

import gc
import os
import pickle
import signal
import threading
import time
import traceback

import numpy as np
import pytest

from dtnn.comm import MPI, Mismatch, RankFailed, between_two, host_memory, messages
from dtnn.comm import mpi as mpi_module
from dtnn.comm.messages import pieces
from dtnn.comm.pending import HELD
from tests.comm.contract import MISMATCHES, mismatch_of
from tests.comm.mpi_job import run_mpi

VERBS = {
    "Allreduce": lambda comm: comm.Allreduce(np.ones(5)),
    "long Allreduce": lambda comm: comm.Allreduce(np.ones(1_000_000)),
    "Iallreduce": lambda comm: comm.Iallreduce(np.ones(5)).Wait(),
    "Bcast": lambda comm: comm.Bcast(np.ones(5), root=comm.size - 1),
    "Gather": lambda comm: comm.Gather(np.ones((5, 4))[::2].T, root=comm.rank),
    "Barrier": lambda comm: comm.Barrier(),
    "long Send": lambda comm: comm.Send(np.ones(3_000_000), comm.size - 1),
    "Recv": lambda comm: comm.Recv(np.ones(5), comm.size - 1),
    "Probe": lambda comm: comm.Probe(),
    "Sendrecv": lambda comm: comm.Sendrecv(np.ones(3_000_000), comm.size - 1, np.ones(5), comm.size - 1),
    "Test": lambda comm: polls_for_ever(comm.Iallreduce(np.ones(5))),
}


def polls_for_ever(request):
    while not request.Test():
        time.sleep(0.001)


@pytest.mark.parametrize("ranks", [2, 3])
def test_failure_ends_waits_and_next_run_is_right(ranks):  # case 1
    found = run_mpi(__file__, "fail_in_each_verb", ranks)
    for rank in range(ranks - 1):
        for verb in VERBS:
            assert found[rank][verb][0] == (ranks - 1, "ValueError: negative width"), f"{verb} on rank {rank}"
        assert usual(found[rank]) < 3


def usual(found):
    """The median of the seconds: a machine that has other things to do may hold up a wait or two, not most of them."""
    return np.median([seconds for _, seconds in found.values()])


def fail_in_each_verb(pool):
    """The last rank fails while the others wait; after each failure the next run must get right sums."""
    found = {}
    for verb, wait in VERBS.items():
        comm = pool.checkout()
        if comm.rank == comm.size - 1:
            time.sleep(0.05)
            comm.fail("ValueError: negative width")
        else:
            found[verb] = how_it_ended(wait, comm)
        next_run(pool)
    return found


def how_it_ended(wait, comm):
    begin = time.perf_counter()
    try:
        wait(comm)
    except RankFailed as error:
        comm.fail("a consequence, not the cause")  # tells nobody: the others must hear of the first failure
        assert not comm.clean
        return (error.rank, error.reason), time.perf_counter() - begin
    return None, None


def next_run(pool):
    comm = pool.checkout()
    for size in (1, 1000, 1_000_000):
        array = np.full(size, comm.rank + 1.0)
        comm.Allreduce(array)
        assert (array == comm.size * (comm.size + 1) / 2).all()
    assert comm.clean


def test_interrupt_ends_waits():  # case 2
    for found in run_mpi(__file__, "interrupt_each_verb", 2):
        assert found.keys() == {(verb, how) for verb in VERBS for how in ("signal", "thread")}
        assert {error for error, _ in found.values()} == {"KeyboardInterrupt"}
        assert usual(found) < 1


def interrupt_each_verb(pool):
    """Both ranks wait for something that does not come, until a signal or another thread interrupts them."""
    found = {}
    for verb, wait in VERBS.items():
        for how in ("signal", "thread"):
            comm = pool.checkout()
            interrupt = comm.interrupt if how == "thread" else lambda: os.kill(os.getpid(), signal.SIGINT)
            begin = time.perf_counter()
            try:
                threading.Timer(0.1, interrupt).start()  # here: a busy machine may be that late itself
                wait(comm) if comm.rank == 0 else comm.Recv(np.ones(3), 0, tag=9)
            except KeyboardInterrupt:
                found[verb, how] = "KeyboardInterrupt", time.perf_counter() - begin
            next_run(pool)
    return found


@pytest.mark.slow
@pytest.mark.limit(120)
def test_five_thousand_short_runs():
    assert run_mpi(__file__, "many_runs", 2, seconds=110) == [30, 30]


def many_runs(pool):
    """MPICH has some 2,000 communicators: clean runs share them, each of the 30 failures costs a pair."""
    for run in range(5000):
        comm = pool.checkout()
        if run % 167 == 5:
            comm.fail("on purpose") if comm.rank else expect_failure(comm)
        else:
            assert comm.Allreduce(run) == 2 * run
    return len(pool.spoilt)


def expect_failure(comm):
    with pytest.raises(RankFailed, match="rank 1 failed: on purpose"):
        comm.Barrier()


def test_runs_do_not_meet_what_the_last_one_left():
    assert run_mpi(__file__, "leave_something_behind", 2) == [[1.0, 2.0, 3.0]] * 2


def leave_something_behind(pool):
    """Three ways to end a run that looks clean: a message nobody received, a request nobody waited for, a caller who knows."""
    results = []
    for leave in (
        lambda comm: comm.Send(np.full(1, 99.0), 1) if comm.rank == 0 else None,
        lambda comm: comm.Iallreduce(np.full(1, 99.0)) if comm.rank == 0 else None,
        lambda comm: None,
    ):
        leave(pool.checkout())
        comm = pool.checkout(fresh=len(results) == 2 and pool.world.rank == 0)
        received = np.zeros(1)
        if comm.rank == 0:
            comm.Send(np.full(1, len(results) + 1.0), 1)
        else:
            comm.Recv(received, 0)
        results.append(float(comm.Allreduce(received)[0]))
        assert len(pool.spoilt) == len(results), "the pair was taken again"
    return results


def test_abandoned_memory_stays():  # E5
    assert run_mpi(__file__, "abandon", 2) == [True, True]


def abandon(pool):
    """Rank 1 fails before a sum that rank 0 began; what rank 0 handed to MPI must never be given to anything else."""
    comm = pool.checkout()
    if comm.rank == 1:
        time.sleep(0.05)
        comm.fail("gone")
        return True
    before = set(HELD)
    request = comm.Iallreduce(np.ones(100_000)[::2])
    with pytest.raises(RankFailed):
        request.Wait()
    del request, comm
    gc.collect()
    held = [HELD[number] for number in set(HELD) - before]
    return any(getattr(array, "size", 0) == 50_000 for array in held)


def test_long_arrays_go_in_pieces():  # case 25
    assert run_mpi(__file__, "send_long", 2) == [[4] * 5] * 2  # Bcast, Allreduce, Recv, Send, Gather


def send_long(pool):
    messages.LARGEST_MESSAGE = 1 << 20
    host_memory.LEAST = 1 << 40  # no sums in shared memory
    comm = pool.checkout()
    right = np.random.default_rng(0).standard_normal(7 << 16)  # 3.5 MiB
    counts = []
    monkeypatch = pytest.MonkeyPatch()
    for module in (mpi_module, between_two):
        monkeypatch.setattr(module, "pieces", lambda elements: counts.append(len(pieces(elements))) or pieces(elements))
    array = right.copy() if comm.rank == 0 else np.zeros_like(right)
    comm.Bcast(array)
    np.testing.assert_array_equal(array, right)
    comm.Allreduce(array)
    np.testing.assert_array_equal(array, 2 * right)
    received = np.zeros_like(right)
    comm.Sendrecv(right, 1 - comm.rank, received, 1 - comm.rank)
    np.testing.assert_array_equal(received, right)
    stacked = comm.Gather(right * (comm.rank + 1))
    if comm.rank == 0:
        np.testing.assert_array_equal(stacked, [right, 2 * right])
    return counts


@pytest.mark.parametrize("together", [False, True], ids=["messages", "shared memory"])
@pytest.mark.parametrize("blocking", [False, True], ids=["polled", "blocking"])
def test_mismatch_names_ranks_and_shapes(blocking, together):  # case 27
    for found in run_mpi(__file__, "disagree", 3, blocking, together, seconds=60):
        assert sorted(found) == sorted({**MISMATCHES, **ORDERS})
        for name, (text, seconds) in found.items():
            assert seconds < 5, name
            for word in [*{**MISMATCHES, **ORDERS}[name][1], "same calls in the same order"]:
                assert word in text.replace("Iallreduce sum", "Allreduce sum"), name


def request_and_barrier(comm):
    """Rank 1 begins the sum after the barrier."""
    array = np.zeros(5)
    if comm.rank == 1:
        comm.Barrier()
    request = comm.Iallreduce(array)
    if comm.rank != 1:
        comm.Barrier()
    request.Wait()


def request_and_sum(comm):
    """Rank 0 never makes the barrier's way, and waits for what others never begin."""
    comm.Iallreduce(np.zeros(5)).Wait() if comm.rank == 0 else comm.Barrier()


def waited_for_in_another_order(comm):
    requests = [comm.Iallreduce(np.zeros(n)) for n in ((3, 5) if comm.rank else (5, 3))]
    for request in requests if comm.rank else requests[::-1]:
        request.Wait()


ORDERS = {
    "request before": (request_and_barrier, ["rank 1: Barrier", "ranks 0, 2: "]),
    "request instead": (request_and_sum, ["ranks 1, 2: Barrier", "rank 0: Allreduce sum of float64 (5,)"]),
    "waits": (
        waited_for_in_another_order,
        ["ranks 1, 2: Allreduce sum of float64 (3,)", "rank 0: Allreduce sum of float64 (5,)"],
    ),
}


def disagree(pool, blocking, together):
    found = {}
    for name, (job, _) in {**MISMATCHES, **ORDERS}.items():
        comm = pool.checkout(blocking=blocking)
        if together:  # from now on all is compared where the ranks meet
            comm._crowded = False
            comm.Allreduce(np.ones(100_000))
            assert comm._comparison.rendezvous is not None
        begin = time.perf_counter()
        try:
            found[name] = mismatch_of(comm, job), time.perf_counter() - begin
        except BaseException as error:
            raise RuntimeError(f"{name} on rank {comm.rank}") from error
        assert not comm.clean
        next_run(pool)
    return found


@pytest.mark.parametrize("together", [False, True], ids=["messages", "shared memory"])
def test_a_batch_job_compares_without_notices_too(together):
    for found in run_mpi(__file__, "disagree_in_a_batch_job", 2, together):
        assert "rank 0: Allreduce sum of float64 (4,); rank 1: Allreduce max of float64 (4,)" in found


def disagree_in_a_batch_job(pool, together):
    comm = MPI(pool.world.Dup(), blocking=True, crowded=not together)
    comm.Allreduce(np.ones(100_000))
    return mismatch_of(comm, lambda comm: comm.Allreduce(np.array([1.0, 1, 2, 2]), "max" if comm.rank else "sum"))


def test_failure_elsewhere_ends_waits_of_a_part():
    assert run_mpi(__file__, "fail_beside_a_part", 3) == ["rank 2 failed: on purpose"] * 2 + [None]


def fail_beside_a_part(pool):
    comm = pool.checkout()
    part = comm.Split(comm.rank // 2)
    if comm.rank == 2:
        return comm.fail("on purpose")
    with pytest.raises(RankFailed) as caught:
        part.Recv(np.ones(1), 1 - part.rank, tag=part.rank)
    return str(caught.value)


def test_parts_are_given_back_when_nothing_is_under_way():
    assert run_mpi(__file__, "split_and_free", 2) == [(True, False)] * 2


def split_and_free(pool):
    comm = pool.checkout()
    part, spoilt = comm.Split(0), comm.Split(0)
    part.Barrier()
    part.Free()
    spoilt.Iallreduce(np.ones(3))  # nobody waits for it
    spoilt.Free()
    return tuple(split.world == pool.library.COMM_NULL for split in (part, spoilt))


@pytest.mark.parametrize("blocking", [False, True], ids=["polled", "blocking"])
def test_received_arrays_must_match(blocking):
    told = run_mpi(__file__, "send_something_else", 2, blocking)[1]
    for text, (_, _, words) in zip(told, OTHERS, strict=True):
        assert words in text


OTHERS = [  # what is sent, one after the other with the last wrong, what is received, and what the receiver is told
    ([np.zeros(1)], [np.zeros(2)], "rank 0 sent float64 (1,), 8 bytes, but rank 1 receives 16; make"),
    ([np.zeros(3)], [np.zeros(2)], "rank 0 sent float64 (3,), more than the 16 bytes that rank 1 receives"),
    ([np.zeros(2)], [np.zeros(4, "f4")], "rank 0 sent float64 (2,) to rank 1, which receives float32 (4,); make"),
    ([np.zeros((2, 3))], [np.zeros((3, 2))], "rank 0 sent float64 (2, 3) to rank 1, which receives float64 (3, 2)"),
    (
        [np.zeros(2), np.zeros(2, "i8")],
        [np.zeros(2), np.zeros(2)],
        "rank 0 sent int64 (2,) to rank 1, which receives float64 (2,)",
    ),
    ([np.zeros(2), np.zeros(2)], [np.zeros(2), np.zeros(2, "i8")], "rank 0 sent an array of a kind that it had sent before"),
]


def send_something_else(pool, blocking):
    told = []
    for sent, received, _ in OTHERS:
        comm = pool.checkout(fresh=True, blocking=blocking)
        if comm.rank == 0:
            for array in sent:
                comm.Send(array, 1)
            continue
        for array in received[:-1]:
            comm.Recv(array, 0)
        with pytest.raises(Mismatch) as caught:
            comm.Recv(received[-1], 0)
        told.append(str(caught.value))
    return told


def test_what_is_told_of_messages_is_told_once():
    """Kinds by the dozen, two tags, to itself and to others, and what lies the other way round: no letter is left."""
    assert run_mpi(__file__, "send_all_kinds", 3) == [True] * 3


def send_all_kinds(pool):
    comm = pool.checkout()
    for turn in range(3):
        for dtype in ("f4", ">f4", "f8", "i4", "c16"):
            for shape in ((), (0,), (3,), (2, 5), (5, 2)):
                for step, tag in ((1, 0), (comm.size - 1, 5), (0, 0)):
                    sent, received = np.full(shape, 1 + comm.rank, dtype), np.zeros(shape, dtype)
                    comm.Sendrecv(sent, (comm.rank + step) % comm.size, received, (comm.rank - step) % comm.size, tag)
                    assert (received == 1 + (comm.rank - step) % comm.size).all()
        if turn == 0:
            told = len(comm._letterheads.told)
    comm.Barrier()
    pair = pool.pair
    pool.checkout()
    return told == len(comm._letterheads.told) == 4 * 5 * 3 and pool.pair is pair


def test_long_reason_is_cut_from_the_front():
    (told, ended), _ = run_mpi(__file__, "fail_with_much_to_say", 2)
    assert told < 5000
    assert ended.endswith("ValueError: at the end ä")


def fail_with_much_to_say(pool):
    comm = pool.checkout()
    if comm.rank == 1:
        return comm.fail("ä" * 100_000 + "ValueError: at the end ä")
    with pytest.raises(RankFailed) as caught:
        comm.Barrier()
    return len(caught.value.reason.encode()), caught.value.reason


def test_failure_of_a_batch_job_ends_all_processes():  # case 31
    done = run_mpi(__file__, "batch_job", 2, check=False)  # rank 0 waits for ever if it isn't ended
    assert done.returncode != 0
    assert "rank 1 failed: Traceback" in done.stdout
    assert "ValueError: negative width" in done.stdout


def batch_job(pool):
    comm = pool.checkout(blocking=True)
    try:
        if comm.rank == 1:
            raise ValueError("negative width")
        comm.Barrier()
    except ValueError:
        comm.fail(traceback.format_exc())


def test_errors_travel():
    error = pickle.loads(pickle.dumps(RankFailed(3, "ValueError")))
    assert (error.rank, error.reason) == (3, "ValueError")


@pytest.mark.parametrize(("size", "lengths"), [(0, [0]), (1, [1]), (4, [4]), (5, [4, 1]), (12, [4, 4, 4])])
def test_pieces_are_all_of_it(size, lengths, monkeypatch):
    monkeypatch.setattr(messages, "LARGEST_MESSAGE", 39)  # 4 numbers of 8 bytes, and a bit
    elements = np.arange(float(size))
    assert [len(piece) for piece in pieces(elements)] == lengths
    np.testing.assert_array_equal(np.concatenate(pieces(elements)), elements)


def test_consequences_are_not_told():
    assert run_mpi(__file__, "fail_because_of_a_failure", 3) == [False, False, False]


def fail_because_of_a_failure(pool):
    """Rank 2 fails, rank 0 because of it: only rank 2's notice is on its way to rank 1."""
    comm = pool.checkout()
    if comm.rank == 2:
        comm.fail("the cause")
    if comm.rank == 0:
        with pytest.raises(RankFailed, match="rank 2 failed: the cause"):
            comm.Barrier()
        comm.fail("a consequence")
    pool.world.Barrier()
    if comm.rank == 1:
        with pytest.raises(RankFailed, match="rank 2 failed: the cause"):
            comm.Barrier()
    return pool.pair[1].Iprobe()
