"""What only ranks as threads can do: notice deadlocks, and say who waits for whom."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from dtnn.comm import Deadlock, Mismatch, RankFailed, group, run_threads
from tests.comm.contract import MISMATCHES, mismatch_of

VERBS = {
    "Allreduce": lambda comm: comm.Allreduce(np.ones(5)),
    "Iallreduce": lambda comm: comm.Iallreduce(np.ones(5)).Wait(),
    "Bcast": lambda comm: comm.Bcast(np.ones(5), root=comm.rank),
    "Gather": lambda comm: comm.Gather(np.ones(5)),
    "Barrier": lambda comm: comm.Barrier(),
    "Send": lambda comm: comm.Send(np.ones(5), 1),
    "Recv": lambda comm: comm.Recv(np.ones(5), 1),
    "Probe": lambda comm: comm.Probe(),
    "Sendrecv": lambda comm: comm.Sendrecv(np.ones(5), 1, np.ones(5), 1),
}
verbs = pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)


def polls_for_ever(comm):
    request = comm.Iallreduce(np.ones(5))
    while not request.Test():
        time.sleep(0.001)


@pytest.mark.parametrize("wait", [*VERBS.values(), polls_for_ever], ids=[*VERBS, "Test"])
def test_failure_ends_waits_of_others(wait):  # case 1
    errors = {}

    def job(comm):
        if comm.rank == 1:
            time.sleep(0.05)
            raise ValueError("negative width")
        with pytest.raises(RankFailed) as caught:
            wait(comm)
        errors[comm.rank] = caught.value

    begin = time.perf_counter()
    with pytest.raises(ValueError, match="negative width") as caught:
        run_threads(job, 4)
    assert time.perf_counter() - begin < 3
    assert caught.value.rank == 1
    assert sorted(errors) == [0, 2, 3]
    for error in errors.values():
        assert error.rank == 1
        assert "ValueError: negative width" in str(error)
        assert str(error).startswith("rank 1 failed: ")


def test_first_failure_is_raised():
    def job(comm):
        if comm.rank == 2:
            raise KeyError("first")
        comm.Barrier()

    with pytest.raises(KeyError) as caught:
        run_threads(job, 3)
    assert caught.value.rank == 2


@verbs
@pytest.mark.parametrize("target", [0, None])
def test_interrupt_ends_waits(verb, target):  # case 2
    ranks = group(3)
    ended = {}

    def job(comm):
        try:
            verb(comm) if comm.rank == 0 else comm.Recv(np.zeros(1), 2, tag=9)
        except BaseException as error:
            ended[comm.rank] = error

    threads = [threading.Thread(target=job, args=(comm,)) for comm in ranks[:2]]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    assert not ended, "rank 2 is still there, so the others have to wait"
    ranks[2].interrupt(target)
    threads[0].join(1)
    assert isinstance(ended[0], KeyboardInterrupt)
    threads[1].join(1 if target is None else 0.02)
    assert (1 in ended) == (target is None)
    ranks[2].interrupt()
    threads[1].join(1)
    assert isinstance(ended[1], KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        ranks[0].Barrier()


INTERRUPTED = """
import os, signal, threading, time
from dtnn.comm import run_threads

ended = []

def job(comm):
    try:
        if comm.rank == 0:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            time.sleep(0.5)
        comm.Barrier()
    except KeyboardInterrupt:
        ended.append(comm.rank)

try:
    run_threads(job, 3)
except KeyboardInterrupt:
    print("interrupted", sorted(ended))
"""


def test_interrupt_of_caller_interrupts_all_ranks():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=20)
    assert done.stdout == "interrupted [0, 1, 2]\n", done.stdout + done.stderr


def sends_first(comm):
    comm.Send(np.zeros(3), (comm.rank + 1) % comm.size, tag=4)
    comm.Recv(np.zeros(3), (comm.rank - 1) % comm.size, tag=4)


def receives_first(comm):
    comm.Recv(np.zeros(3, np.float32), 1 - comm.rank)


def leaves_early(comm):
    if comm.rank:
        comm.Barrier()


def misses_the_tag(comm):
    if comm.rank:
        comm.Recv(np.zeros(2), 0, tag=1)
    else:
        comm.Send(np.zeros(2), 1, tag=0)


def alone_with_itself(comm):
    if comm.rank == 0:
        comm.Send(np.zeros(2), 0)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (
            sends_first,
            ["0 waits to send float64 (3,) to rank 1 (tag 4)", "1 waits to send float64 (3,) to rank 0 (tag 4)"],
        ),
        (
            receives_first,
            ["0 waits to receive float32 (3,) from rank 1", "1 waits to receive float32 (3,) from rank 0"],
        ),
        (leaves_early, ["rank 0 has ended", "rank 1 waits for rank 0 to join in Barrier"]),
        (misses_the_tag, ["to rank 1 (tag 0)", "from rank 0 (tag 1)"]),
        (alone_with_itself, ["rank 0 waits to send float64 (2,) to rank 0", "rank 1 has ended"]),
    ],
)
def test_deadlock_says_who_waits_for_whom(job, words):  # case 99
    begin = time.perf_counter()
    with pytest.raises(Deadlock) as caught:
        run_threads(job, 2)
    assert time.perf_counter() - begin < 5
    for word in words:
        assert word in str(caught.value)


def test_slow_rank_is_no_deadlock():
    def job(comm):
        if comm.rank == 1:
            time.sleep(1.3)  # longer than the room's own waits last
        return comm.Allreduce(1)

    assert run_threads(job, 3) == [3, 3, 3]


@pytest.mark.parametrize(("job", "words"), MISMATCHES.values(), ids=MISMATCHES)
def test_mismatch_names_ranks_and_shapes(job, words):  # case 27
    errors = run_threads(mismatch_of, 3, job)
    for error in errors:
        for word in [*words, "same calls in the same order"]:
            assert word in error


def test_received_shape_must_match():
    def job(comm):
        if comm.rank == 0:
            comm.Send(np.zeros((2, 3)), 1)
        else:
            comm.Recv(np.zeros(6), 0)

    with pytest.raises(Mismatch, match=r"rank 0 sent float64 \(2, 3\) to rank 1, which receives float64 \(6,\)"):
        run_threads(job, 2)


def test_send_waits_for_receiver():
    order = []

    def job(comm):
        if comm.rank == 0:
            comm.Send(np.zeros(1), 1)
            order.append("sent")
        else:
            time.sleep(0.1)
            order.append("receiving")
            comm.Recv(np.zeros(1), 0)

    run_threads(job, 2)
    assert order == ["receiving", "sent"]


def test_failure_elsewhere_ends_waits_of_a_part():
    told = {}

    def job(comm):
        part = comm.Split(comm.rank // 2)
        if comm.rank == 3:
            raise ValueError("on purpose")
        try:
            part.Barrier() if comm.rank != 1 else comm.Barrier()
        except RankFailed as error:
            told[comm.rank] = error.rank

    with pytest.raises(ValueError, match="on purpose"):
        run_threads(job, 4)
    assert told == {0: 3, 1: 3, 2: 3}


def test_deadlock_of_a_part_is_told():
    def job(comm):
        part = comm.Split(comm.rank % 2)
        if comm.rank:
            part.Barrier()

    with pytest.raises(Deadlock) as caught:
        run_threads(job, 4)
    words = "rank 0 has ended; rank 2 waits for rank 0 to join in Barrier, as rank 1 of the part of ranks 0, 2: none of them"
    assert str(caught.value).startswith(words)


def part_and_whole(comm):
    part = comm.Split(0)
    (part if comm.rank == 0 else comm).Barrier()


def part_of_a_part(comm):
    part = comm.Split(0, key=-comm.rank)
    inner = part.Split(comm.rank // 2)
    inner.Barrier() if comm.rank == 3 else comm.Recv(np.zeros(1), 3)


def polls_while_others_receive(comm):
    if comm.rank == 0:
        request = comm.Iallreduce(np.zeros(5))
        while not request.Test():
            time.sleep(0.001)
    else:
        comm.Recv(np.zeros(2), 0, tag=3)


def polls_what_others_never_begin(comm):
    """Each asks after two requests, one of which no other begins."""
    requests = [comm.Iallreduce(np.zeros(5)), comm.Iallreduce(np.zeros(6)) if comm.rank == 0 else None]
    while not all(request is None or request.Test() for request in requests):
        time.sleep(0.001)
    comm.Recv(np.zeros(1), 0) if comm.rank else None


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (
            part_and_whole,
            ["rank 0 waits for rank 1, rank 2, rank 3 to join in Barrier, as rank 0 of the part of ranks 0, 1, 2, 3; rank "],
        ),
        (
            part_of_a_part,
            [
                "rank 0 waits to receive float64 (1,) from rank 3 (tag 0); ",
                "rank 3 waits for rank 1 to join in Barrier, as rank 0 of the part of ranks 3, 2: none of them can go on",
            ],
        ),
        (
            polls_while_others_receive,
            [
                "rank 0 waits for rank 1, rank 2, rank 3 to join in Allreduce sum of float64 (5,), asking again and again; ",
                "rank 1 waits to receive float64 (2,) from rank 0 (tag 3); ",
            ],
        ),
        (polls_what_others_never_begin, ["to join in Allreduce sum of float64 (6,), asking again", "rank 2 waits to receive"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_deadlock_across_parts_and_requests_is_told(job, words):
    begin = time.perf_counter()
    with pytest.raises(Deadlock) as caught:
        run_threads(job, 4)
    assert time.perf_counter() - begin < 5
    for word in words:
        assert word in str(caught.value)


def test_ranks_that_are_stuck_are_told_while_others_work():
    seconds = []

    def job(comm):
        part = comm.Split(comm.rank // 2)
        begin = time.perf_counter()
        if comm.rank >= 2:
            time.sleep(1.5)
            part.Barrier()
        else:
            try:
                part.Recv(np.zeros(1), 1 - part.rank)
            except Deadlock:
                seconds.append(time.perf_counter() - begin)

    run_threads(job, 4)
    assert len(seconds) == 2
    assert max(seconds) < 1


def test_who_asks_for_long_while_another_works_is_no_deadlock():
    def job(comm):
        if comm.rank == 1:
            time.sleep(4)
        array = np.ones(3)
        request = comm.Iallreduce(array)
        while not request.Test():
            time.sleep(0.01)
        if comm.rank == 2:
            comm.Recv(array, 0)
        elif comm.rank == 0:
            comm.Send(array, 2)
        return array[0]

    assert run_threads(job, 3) == [3, 3, 3]


def test_cluster_of_threads_is_told_too():
    from dtnn import Cluster

    with Cluster(2, "threads") as cluster:
        begin = time.perf_counter()
        with pytest.raises(Deadlock, match="rank 0 waits for rank 1 to join in Barrier, as rank 0 of the part of ranks 0, 1"):
            cluster.run(part_and_whole).result(10)
        assert time.perf_counter() - begin < 5


def test_requests_move_while_rank_waits_for_something_else():
    def job(comm):
        array = np.ones(10)
        request = comm.Iallreduce(array)
        if comm.rank == 0:
            request.Wait()  # needs rank 1, which waits for rank 0's message
            comm.Send(array, 1)
        else:
            received = np.zeros(10)
            comm.Recv(received, 0)
            request.Wait()
            assert (received == 2).all()
        return array[0]

    assert run_threads(job, 2) == [2, 2]


def test_groups_do_not_hear_each_other():
    def job(comm):
        inner = run_threads(lambda own: own.Allreduce(comm.rank), 2)
        return comm.Allreduce(inner[0])

    assert run_threads(job, 2) == [2, 2]


@pytest.mark.parametrize("size", [0, -1, 2.0, "4"])
def test_size_must_be_a_positive_integer(size):
    with pytest.raises((TypeError, ValueError), match="at least 1") as caught:
        group(size)
    assert repr(size) in str(caught.value)


def test_many_ranks():
    assert run_threads(lambda comm: comm.Allreduce(comm.rank), 32) == [496] * 32


def test_arguments_reach_every_rank():
    assert run_threads(lambda comm, x, y: x + y + comm.rank, 3, 10, 5) == [15, 16, 17]
